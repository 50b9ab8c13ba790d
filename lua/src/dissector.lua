-- Where Wireshark comes in.

rdma.prefs.full = Pref.bool("Dissect RDMA in full, in place of the built-in dissectors", false, "RoCEv2, RoCEv1 and InfiniBand in ERF are dissected here and by nobody else")
rdma.prefs.analysis = Pref.bool("Analyse sequence numbers", true, "Find gaps, retransmissions and round trips on the first pass")
rdma.prefs.info = Pref.bool("Add to the Info column", true, "Say there what was lost or sent again, and name operations that the built-in dissector does not know")
rdma.prefs.icrc = Pref.bool("Check the ICRC", false, "In Lua this takes its time: some 150 microseconds for 1,024 bytes")
rdma.prefs.ports = Pref.string("UDP ports", "4791", "Destination ports of RoCEv2, with commas between them")
rdma.prefs.summary = Pref.bool("Print a summary for each queue pair (tshark)", false, "When tshark has read the capture: what was lost and sent again")

local settings = { full = false, analysis = true, info = true, icrc = false }

local MAX_DOUBTS = 0x400000 -- bytes of frames whose ICRC alone can tell what they are

local statuses = {} -- of the ICRC, by frame; "good" goes without saying where all are checked
local sums = {}     -- what a bad ICRC should be
local proven = {}   -- frames of which only the ICRC tells that they are RDMA
local doubts = 0
local newest = -1   -- the highest frame number seen
local checking = false -- the ICRC, of packets that have one
local drawn = -1    -- the frame that the full dissector has drawn already
local claimed = {}  -- UDP ports that the user decodes as RDMA
local self          -- our own Dissector, to ask whether anybody wants our fields

local p = {} -- the packet at hand

-- check computes the ICRC of the packet that at describes.
local function check(s, frame)
  local crc, found = icrc(s)
  if crc == nil then return "absent" end
  if crc == found then return "good" end
  sums[frame] = string.format("%08x", crc)
  return "bad"
end

-- read takes from the packet what the analysis needs.
local function read(s, form, frame, time, op, flags, b8, psn)
  local o, wire = at.bth, at.wire
  local have = min(at.stop - o, wire)
  p.frame, p.time, p.op, p.form, p.psn = frame, time, op, form, psn
  p.ackreq, p.retx, p.synchronised = b8 >= 128, floor(b8 / 32) % 2 == 1, floor(b8 / 16) % 2 == 1
  p.payload = max(0, wire - 4 - floor(flags / 16) % 4 - form.len)
  p.syndrome, p.msn, p.dmalen, p.sack, p.aack, p.echoes_retx, p.finished, p.segments, p.fault, p.damaged = nil
  local limit = min(have, wire - 4)
  if form.reth and form.reth + 16 <= limit then p.dmalen = u32(s, o + form.reth + 12) end
  if form.aeth and form.aeth + 4 <= limit then
    p.syndrome, p.msn = byte(s, o + form.aeth + 1), u24(s, o + form.aeth + 1)
  end
  if form.sack and form.sack + 4 <= limit then p.sack = u24(s, o + form.sack + 1) end
  if form.mp and form.mp + 4 <= limit then
    p.echoes_retx, p.aack = floor(byte(s, o + form.mp + 1) / 64) % 2 == 1, u24(s, o + form.mp + 1)
  end
  if form.reports and (p.payload == TCAETH or p.payload == TCAETH_SHORT) then
    local n = p.payload
    p.payload = 0
    if form.aeth + 4 + n <= have then p.finished, p.segments, p.fault = report(s, o + form.aeth + 4) end
  end
end

-- analyse follows a packet on the first pass. It returns false where the frame
-- turns out to be something else.
local function analyse(s, pinfo, frame)
  local o = at.bth
  local op, flags, k1, k2, b4, q1, q2, q3, b8, s1, s2, s3 = byte(s, o + 1, o + 12)
  local qp, pkey = (q1 * 256 + q2) * 256 + q3, k1 * 256 + k2
  local form = FORMS[op]
  local grade = judge(op, flags, pkey, b4, qp, b8, at.wire)
  local status = "unchecked"
  if settings.icrc then
    status = check(s, frame)
  elseif grade == IMPLAUSIBLE and doubts < MAX_DOUBTS then
    doubts = doubts + at.wire
    status = check(s, frame)
    if status ~= "good" then status = "unchecked" end
  end
  if status == "good" then
    if grade == IMPLAUSIBLE then proven[frame] = true end
    grade = PROVEN
  end
  if grade == IMPLAUSIBLE then return false end
  if status ~= "unchecked" then statuses[frame] = status end
  if op == CNP then mark(frame).cnp = true end
  if not settings.analysis or form == nil or op == CNP then return true end
  if form.service == "UD" then
    if qp == 1 and form.payload then manage(s, o + form.len, at.stop) end
    return true
  end
  local by_qp = halves[at.src .. at.dst]
  local h = by_qp and by_qp[qp]
  if h == nil then
    if grade == MISFIT then return true end
    h = new_half(at.src, at.dst, qp, form)
    if h == nil then return true end
  end
  local time = floor(pinfo.rel_ts * 1e9 + 0.5)
  read(s, form, frame, time, op, flags, b8, (s1 * 256 + s2) * 256 + s3)
  p.id, p.sport = at.id, at.sport
  if mirrored(h, p) then
    mark(frame).copy = true
    return true
  end
  number(h.req, p)
  if status == "good" then
    h.good = h.good + 1
  elseif status == "bad" then
    h.bad = h.bad + 1
    local n = h.good + h.bad
    p.damaged = not (n >= 8 and h.bad * 2 > n or h.good == 0)
  end
  if p.syndrome and form.verb == "ack" then
    local kind = floor(p.syndrome / 32) % 4
    if kind == 3 then
      local m = mark(frame)
      m.nak = NAK_CODES[p.syndrome % 32] or "code " .. p.syndrome % 32
      if p.syndrome % 128 == 0x60 then m.nak_psn = p.psn end
    elseif kind == 1 then
      mark(frame).rnr = true
    end
  end
  take(h, p)
  return true
end

local function none(address)
  local text = tostring(address)
  return text == "" or text == "NONE"
end

-- dissect begins with the short way: that of a request which is new data and in
-- order, nearly every packet there is, in the framing that nearly all have. It
-- does what analyse would do, and no more. Every step of it counts.
local function dissect(tvb, pinfo, tree)
  local n = tvb:captured_len()
  local s = tvb:raw(0, n < 128 and n or 128)
  local frame, first = pinfo.number, not pinfo.visited
  if first then
    -- Frames that a read filter drops have no number of their own.
    if frame == newest then marks[frame], acks_of[frame], rtts[frame], proven[frame], statuses[frame] = nil end
    newest = frame
  end
  local located = false
  if n >= 54 then
    local e1, e2, v, tos, l1, l2, i1, i2, f1, f2, _, protocol, _, _, _, _, _, _, _, _, _, _, p1, p2, d1, d2, u1, u2, _, _,
      op, flags, k1, k2, _, q1, q2, q3, b8, s1, s2, s3 = byte(s, 13, 54)
    if e1 == 8 and e2 == 0 and v == 0x45 and protocol == 17 and f1 % 64 == 0 and f2 == 0 and ports[d1 * 256 + d2] then
      local ulen = u1 * 256 + u2
      if ulen >= 20 and ulen + 20 <= l1 * 256 + l2 then
        local form, by_qp = FORMS[op], halves[sub(s, 27, 34)]
        local h = by_qp and by_qp[(q1 * 256 + q2) * 256 + q3]
        if h and first and form and form.plain and flags % 16 == 0 and k1 + k2 > 0 and b8 % 32 < 16 and
          (not checking or n < 34 + ulen) then
          local q, psn, left, pad = h.req, (s1 * 256 + s2) * 256 + s3, ulen - 12 - form.len, flags % 64 / 16
          if q.expect == psn and q.sport == p1 * 256 + p2 and left >= pad and left % 4 == 0 and (form.ends or left - pad == h.mtu) then
            local seq, k, now = q.top, q.n + 1, floor(pinfo.rel_ts * 1e9 + 0.5)
            q.top, q.next, q.n, q.last_time = seq + 1, seq + 1, k, now
            q.seqs[k], q.frames[k], q.times[k], q.ids[k] = seq, frame, now, i1 * 256 + i2
            q.expect = (psn + 1) % 0x1000000
            q.open = not form.ends
            if b8 >= 128 then
              q.asks_ack[q.asked % 8 + 1] = { seq, now, true, frame }
              q.asked = q.asked + 1
            end
            if not tree:referenced(self) then return end
            first = false -- followed already
          end
        end
        if h or pinfo.dst_port ~= 0 then -- of a link type that Wireshark cannot follow nothing is known
          at.carrier, at.start, at.bth, at.wire, at.stop = IPV4, 14, 42, ulen - 8, min(n, 34 + ulen)
          at.id, at.sport, at.marked = i1 * 256 + i2, p1 * 256 + p2, tos % 4 == 3
          if first then at.src, at.dst = sub(s, 27, 30), sub(s, 31, 34) end
          located = true
        end
      end
    end
  end
  local m = marks[frame]
  local wanted = tree:referenced(self)
  if not located then
    if n > 128 then s = tvb:raw(0, n) end
    located = locate(s, tvb:reported_len(), claimed[pinfo.dst_port] and pinfo.dst_port)
    if not located then return end
    if at.carrier == IPV4 or at.carrier == IPV6 then
      if pinfo.dst_port == 0 and none(pinfo.net_src) then return end
    elseif none(pinfo.dl_src) and none(pinfo.src) then
      return
    end
  elseif n > 128 and (wanted or settings.icrc or at.stop > 128 and first) then
    s = tvb:raw(0, n)
  end
  if at.stop - at.bth < 12 then -- cut within the BTH
    if wanted and drawn ~= frame then
      draw(tree, tvb, s, at.bth, at.stop - at.bth, at.wire, CARRIER_NAMES[at.carrier], "absent")
    end
    return
  end
  if first then
    if not analyse(s, pinfo, frame) then return end
    m = marks[frame]
  elseif not proven[frame] then
    local op, flags, k1, k2, b4, q1, q2, q3, b8 = byte(s, at.bth + 1, at.bth + 9)
    if judge(op, flags, k1 * 256 + k2, b4, (q1 * 256 + q2) * 256 + q3, b8, at.wire) == IMPLAUSIBLE then return end
  end
  local loud = m and (m.gaps or m.again or m.cause or m.late or m.nak or m.rnr or m.duplicate or m.copy)
  if loud and settings.info then
    local note = note_of(m)
    if note ~= "" then pinfo.cols.info:append(" " .. note) end
  end
  local op = byte(s, at.bth + 1)
  if settings.info and FORMS[op] and FORMS[op].unknown_to_wireshark and drawn ~= frame then
    pinfo.cols.info:append(" [" .. FORMS[op].name .. "]")
  end
  if not wanted then
    -- Nobody looks at the tree, but somebody may count expert information.
    if loud then draw_expert(tree, m) end
    return
  end
  local root
  if drawn == frame then
    root = tree:add(rdma, tvb:range(at.bth, min(at.stop - at.bth, at.wire)))
  else
    root = draw(tree, tvb, s, at.bth, at.stop - at.bth, at.wire, CARRIER_NAMES[at.carrier],
      statuses[frame] or "unchecked", sums[frame])
  end
  draw_marks(root, m, frame)
end

function rdma.dissector(tvb, pinfo, tree)
  self = self or Dissector.get("rdma")
  dissect(tvb, pinfo, tree)
end

register_postdissector(rdma)

-- The full dissector, for who wants it: one for each carrier, to be put where
-- the built-in ones are.

local places = {} -- the dissector tables where the full dissectors go

do

local function full(name, text, find)
  local proto = Proto(name, text .. " (rdmadump " .. VERSION .. ")")
  function proto.dissector(tvb, pinfo, tree)
    local n = tvb:captured_len()
    local s = tvb:raw(0, n)
    local o, wire, carrier = find(s, tvb:reported_len())
    if o == nil or n - o < 12 then return 0 end
    local op, flags, k1, k2, b4, q1, q2, q3, b8, s1, s2, s3 = byte(s, o + 1, o + 12)
    local qp = (q1 * 256 + q2) * 256 + q3
    if not proven[pinfo.number] and judge(op, flags, k1 * 256 + k2, b4, qp, b8, wire) == IMPLAUSIBLE then return 0 end
    if carrier == "rocev2" and not ports[pinfo.dst_port] then claimed[pinfo.dst_port] = true end
    pinfo.cols.protocol = text
    local form = FORMS[op]
    pinfo.cols.info = string.format("%s QP=0x%06x PSN=%d", form and form.name or string.format("Opcode(0x%02x)", op), qp,
      (s1 * 256 + s2) * 256 + s3)
    if form and form.aeth and o + form.aeth + 4 <= n then
      pinfo.cols.info:append(" " .. syndrome_text(byte(s, o + form.aeth + 1)))
    end
    self = self or Dissector.get("rdma")
    if tree:referenced(self) then
      draw(tree, tvb, s, o, n - o, wire, carrier, statuses[pinfo.number] or "unchecked", sums[pinfo.number])
    end
    drawn = pinfo.number
    return n
  end
  return proto
end

local roce2 = full("rdma_roce2", "RoCEv2", function(_, wire) return 0, wire, "rocev2" end)

local roce1 = full("rdma_roce1", "RoCEv1", function(s)
  if #s < 40 then return nil end
  return 40, u16(s, 4), "rocev1"
end)

local infiniband = full("rdma_ib", "InfiniBand", function(s)
  if #s < 8 then return nil end
  local after, wire = byte(s, 2) % 4, u16(s, 4) % 2048 * 4
  if after == 2 then return 8, wire - 8, "ib" end
  if after == 3 and #s >= 48 then return 48, wire - 48, "ib" end
end)

local function add(name, key, proto)
  local ok, t = pcall(DissectorTable.get, name)
  if ok and t then places[#places + 1] = { table = t, key = key, proto = proto, old = t:get_dissector(key) } end
  return ok and t
end

local udp_ports = add("udp.port", 4791, roce2)
add("ethertype", 0x8915, roce1)
add("erf.types.type", 21, infiniband)
if udp_ports then udp_ports:add_for_decode_as(roce2) end
roce2:register_heuristic("udp", function(tvb, pinfo, tree)
  if not settings.full or not ports[pinfo.dst_port] then return false end
  return roce2.dissector(tvb, pinfo, tree) > 0
end)

end

local function settle()
  local prefs = rdma.prefs
  for _, name in ipairs { "analysis", "info", "icrc" } do settings[name] = prefs[name] end
  ports = {}
  for number in string.gmatch(prefs.ports or "", "%d+") do ports[tonumber(number)] = true end
  if prefs.full ~= settings.full then
    settings.full = prefs.full
    for _, place in ipairs(places) do
      local dissector = settings.full and place.proto or place.old
      if dissector then place.table:set(place.key, dissector) end
    end
  end
end

local listen -- see the summary

function rdma.prefs_changed()
  settle()
  listen()
end

function rdma.init()
  settle()
  forget()
  statuses, sums, proven, doubts, drawn, newest = {}, {}, {}, 0, -1, -1
  checking = settings.icrc
end
