-- The way through the headers of a frame to the BTH. It does not rest on what
-- Wireshark's dissectors found: they go by the lower UDP port first, and a
-- source port of entropy may be anything, TFTP's for one. Offsets count from 0.

local ROCEV1, IPV4, IPV6, IB, IBGRH = 1, 2, 3, 4, 5
local CARRIER_NAMES = { "rocev1", "rocev2", "rocev2", "ib", "ib" }

-- at is where the packet of the frame at hand lies. One table serves all frames.
local at = {
  carrier = 0,
  start = 0,     -- where the ICRC's coverage begins
  bth = 0,       -- where the BTH is
  wire = 0,      -- bytes on the wire from the BTH up to and with the ICRC
  stop = 0,      -- where the captured part of it ends
  src = "", dst = "",
  sport = 0,     -- of UDP
  id = 0,        -- identification of IPv4
  marked = false -- congestion experienced
}

local ports = { [4791] = true } -- UDP destination ports that carry RoCEv2

local function u16(s, o)
  local a, b = byte(s, o + 1, o + 2)
  return a * 256 + b
end

local locate

do

local MAX_TUNNELS = 8

-- A step takes the state, the frame and the offset of its header, and returns
-- the next step, or nil where the way ends. state.stop bounds what was captured,
-- state.last what the innermost header claims of the wire.
local by_ethertype, by_protocol
local ip_any, ipv4, ipv6, ethernet, lrh

-- bound says where what follows ends on the wire.
local function bound(w, last)
  w.last = last
  if last < w.stop then w.stop = last end
end

local function enter(w, step, o)
  w.depth = w.depth + 1
  if step and w.depth <= MAX_TUNNELS then return step(w, o) end
end

local function found(w, carrier, start, o)
  if w.last - o < 12 then return nil end
  at.carrier, at.start, at.bth, at.wire, at.stop = carrier, start, o, w.last - o, w.stop
  return true
end

local function udp(w, o)
  if w.stop - o < 8 then return nil end
  local last, n = w.last, u16(w.s, o + 4)
  if n >= 8 then last = min(last, o + n) elseif n ~= 0 then return nil end
  if last < o + 8 then return nil end
  bound(w, last)
  local port = u16(w.s, o + 2)
  at.sport = u16(w.s, o)
  o = o + 8
  if ports[port] or port == w.claimed then return found(w, w.carrier, w.ip, o) end
  if port == 4789 or port == 8472 then -- VXLAN
    if w.stop - o < 8 or floor(byte(w.s, o + 1) / 8) % 2 == 0 then return nil end
    return enter(w, ethernet, o + 8)
  elseif port == 6081 then -- GENEVE
    if w.stop - o < 8 then return nil end
    local b = byte(w.s, o + 1)
    local len = 8 + b % 64 * 4
    if b >= 64 or w.stop - o < len then return nil end
    local kind = u16(w.s, o + 2)
    return enter(w, kind == 0x6558 and ethernet or by_ethertype[kind], o + len)
  end
end

ipv4 = function(w, o)
  local s = w.s
  if w.stop - o < 20 then return nil end
  local b, tos = byte(s, o + 1, o + 2)
  local len, total = b % 16 * 4, u16(s, o + 2)
  if floor(b / 16) ~= 4 or len < 20 or len > w.stop - o or total ~= 0 and total < len then return nil end
  if total ~= 0 then bound(w, o + total) end
  w.ip, w.carrier = o, IPV4
  at.src, at.dst = sub(s, o + 13, o + 16), sub(s, o + 17, o + 20)
  at.id, at.marked = u16(s, o + 4), tos % 4 == 3
  local step = by_protocol[byte(s, o + 10)]
  if step == nil or u16(s, o + 6) % 0x4000 ~= 0 then return nil end -- a fragment
  return step(w, o + len)
end

ipv6 = function(w, o)
  local s = w.s
  if w.stop - o < 40 or floor(byte(s, o + 1) / 16) ~= 6 then return nil end
  w.ip, w.carrier = o, IPV6
  at.src, at.dst = sub(s, o + 9, o + 24), sub(s, o + 25, o + 40)
  at.id, at.marked = 0, floor(byte(s, o + 2) / 16) % 4 == 3
  local n = u16(s, o + 4)
  if n ~= 0 then bound(w, o + 40 + n) end
  local step = by_protocol[byte(s, o + 7)]
  return step and step(w, o + 40)
end

ip_any = function(w, o)
  if w.stop - o < 1 then return nil end
  local version = floor(byte(w.s, o + 1) / 16)
  if version == 4 then return ipv4(w, o) elseif version == 6 then return ipv6(w, o) end
end

-- skip passes an extension header of n bytes.
local function skip(w, o, n)
  if n > w.stop - o then return nil end
  local step = by_protocol[byte(w.s, o + 1)]
  return step and step(w, o + n)
end

local function extension(w, o)
  if w.stop - o < 8 then return nil end
  return skip(w, o, 8 * (byte(w.s, o + 2) + 1))
end

local function authentication(w, o)
  if w.stop - o < 8 then return nil end
  return skip(w, o, 4 * (byte(w.s, o + 2) + 2))
end

local function fragment(w, o)
  if w.stop - o < 8 then return nil end
  local field = u16(w.s, o + 2)
  if field >= 8 or field % 2 ~= 0 then return nil end -- offset, or more to come
  return skip(w, o, 8)
end

local function gre(w, o)
  local s = w.s
  if w.stop - o < 4 then return nil end
  local flags, kind = u16(s, o), u16(s, o + 2)
  local has = function(bit) return floor(flags / bit) % 2 == 1 end
  if has(0x4000) or flags % 8 ~= 0 then return nil end -- routing, or another version
  local n = 4
  for _, bit in ipairs { 0x8000, 0x2000, 0x1000 } do -- checksum, key, sequence
    if has(bit) then n = n + 4 end
  end
  if w.stop - o < n then return nil end
  o = o + n
  if kind == 0x88be and has(0x1000) then -- ERSPAN II
    if w.stop - o < 8 or floor(byte(s, o + 1) / 16) ~= 1 then return nil end
    return enter(w, ethernet, o + 8)
  elseif kind == 0x22eb then -- ERSPAN III
    if w.stop - o < 12 or floor(byte(s, o + 1) / 16) ~= 2 then return nil end
    local frame, options = byte(s, o + 11, o + 12)
    n = options % 2 == 1 and 20 or 12
    if w.stop - o < n then return nil end
    frame = floor(frame / 4) % 32
    return enter(w, frame == 0 and ethernet or frame == 2 and ip_any or nil, o + n)
  elseif kind == 0x88be or kind == 0x6558 then -- ERSPAN I, or a whole frame
    return enter(w, ethernet, o)
  end
  return enter(w, by_ethertype[kind], o)
end

local function mpls(w, o)
  local s = w.s
  if w.stop - o < 4 then return nil end
  local last = byte(s, o + 3) % 2 == 1
  o = o + 4
  if not last then return enter(w, mpls, o) end
  local version = w.stop > o and floor(byte(s, o + 1) / 16) or 0
  if version == 4 or version == 6 then return enter(w, ip_any, o) end
  if w.stop - o >= 18 and version == 0 and by_ethertype[u16(s, o + 16)] then o = o + 4 end -- control word
  return enter(w, ethernet, o)
end

local function vlan(w, o)
  if w.stop - o < 4 then return nil end
  local step = by_ethertype[u16(w.s, o + 2)]
  return step and step(w, o + 4)
end

-- grh leads from a GRH to its BTH.
local function grh(w, o)
  local s = w.s
  if w.stop - o < 40 or floor(byte(s, o + 1) / 16) ~= 6 or byte(s, o + 7) ~= 0x1b then return nil end
  at.marked = floor(byte(s, o + 2) / 16) % 4 == 3
  return true
end

local function rocev1(w, o)
  if not grh(w, o) then return nil end
  bound(w, o + 40 + u16(w.s, o + 4))
  at.src, at.dst, at.id, at.sport = sub(w.s, o + 9, o + 24), sub(w.s, o + 25, o + 40), 0, 0
  return found(w, ROCEV1, o, o + 40)
end

lrh = function(w, o)
  local s = w.s
  if w.stop - o < 8 then return nil end
  local n = u16(s, o + 4) % 2048 * 4
  if n < 8 then return nil end
  bound(w, o + n)
  at.src, at.dst, at.id, at.sport, at.marked = sub(s, o + 7, o + 8), sub(s, o + 3, o + 4), 0, 0, false
  local after = byte(s, o + 2) % 4
  if after == 2 then return found(w, IB, o, o + 8) end
  if after == 3 and grh(w, o + 8) then return found(w, IBGRH, o + 8, o + 48) end
end

ethernet = function(w, o)
  if w.stop - o < 14 then return nil end
  local step = by_ethertype[u16(w.s, o + 12)]
  return step and step(w, o + 14)
end

by_ethertype = {
  [0x0800] = ipv4, [0x86dd] = ipv6, [0x8915] = rocev1, [0x8847] = mpls, [0x8848] = mpls,
  [0x8100] = vlan, [0x88a8] = vlan, [0x9100] = vlan, [0x9200] = vlan,
}
by_protocol = {
  [17] = udp, [47] = gre, [137] = mpls, [51] = authentication,
  [0] = extension, [43] = extension, [60] = extension, [44] = fragment,
  [4] = function(w, o) return enter(w, ipv4, o) end,
  [41] = function(w, o) return enter(w, ipv6, o) end,
}

-- The link layers. Lua is not told which one a frame has, so that each is tried
-- whose first bytes allow it.

local function cooked(w) -- Linux cooked capture v1
  if w.stop < 16 or u16(w.s, 0) > 4 then return nil end
  local step = by_ethertype[u16(w.s, 14)]
  return step and step(w, 16)
end

local function cooked2(w) -- and v2
  if w.stop < 20 or u16(w.s, 2) ~= 0 then return nil end
  local step = by_ethertype[u16(w.s, 0)]
  return step and step(w, 20)
end

local FAMILIES = { [2] = ipv4, [10] = ipv6, [24] = ipv6, [28] = ipv6, [30] = ipv6 }

local function loopback(w) -- BSD and OpenBSD
  if w.stop < 4 then return nil end
  local a, b, c, d = byte(w.s, 1, 4)
  local family = a + b == 0 and c * 256 + d or c + d == 0 and b * 256 + a or -1
  local step = FAMILIES[family]
  return step and step(w, 4)
end

local ERF = { [2] = ethernet, [11] = ethernet, [16] = ethernet, [20] = ethernet, [21] = lrh, [22] = ipv4, [23] = ipv6 }

local function erf(w) -- Endace ERF record
  local s = w.s
  if w.stop < 16 then return nil end
  local kind, o = byte(s, 9), 16
  local more = kind >= 128
  while more do
    if w.stop < o + 8 then return nil end
    more = byte(s, o + 1) >= 128
    o = o + 8
  end
  local step = ERF[kind % 128]
  if step == nil then return nil end
  if step == ethernet then o = o + 2 end
  if w.stop < o then return nil end
  bound(w, o + u16(s, 14))
  return step(w, o)
end

-- w is the state of the walk, one for all frames.
local w = {}

local function try(step, s, captured, wire, claimed)
  w.s, w.stop, w.last, w.depth, w.claimed = s, captured, wire, 0, claimed
  return step(w, 0)
end

-- locate finds the BTH of a frame and fills at. claimed is a UDP port that
-- carries RoCEv2 in this frame, as the user decided. s is all of the frame.
function locate(s, wire, claimed)
  local n = #s
  for _, step in ipairs { ethernet, cooked, cooked2, loopback, ip_any, erf } do
    if try(step, s, n, max(wire, n), claimed) then return true end
  end
  return false
end

end
