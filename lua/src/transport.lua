-- What stands in a transport packet, and whether it is one at all: UDP port 4791
-- is no proof.

local IMPLAUSIBLE, MISFIT, PLAUSIBLE, PROVEN = 0, 1, 2, 3

local TCAETH, TCAETH_SHORT = 30, 27

-- fits reports whether a packet of this opcode can be n bytes long.
local function fits(op, form, pad, n)
  if form == nil then return n >= 16 end
  local left = n - 4 - form.len
  if op == CNP then return left == 0 end
  if form.payload then return left >= pad and left % 4 == 0 end
  left = left - pad
  return left == 0 or form.reports and (left == TCAETH or left == TCAETH_SHORT)
end

-- judge grades a packet by its BTH: b1 to b4 are the bytes 1, 4, 8 of the BTH
-- and its P_Key.
local function judge(op, b1, pkey, b4, qp, b8, n)
  local form = FORMS[op]
  if b1 % 16 ~= 0 or pkey == 0 or form == nil and op < 0xc0 then return IMPLAUSIBLE end
  local service = floor(op / 32)
  if (service <= 1 or service == 5 or service == 7) and (qp <= 1 or qp == 0xffffff) then return IMPLAUSIBLE end
  if fits(op, form, floor(b1 / 16) % 4, n) then return PLAUSIBLE end
  if form and b4 % 64 == 0 and b8 % 128 == 0 then return MISFIT end
  return IMPLAUSIBLE
end

local parts

do

local function truncated(name, have, of)
  return string.format("%s: truncated: %d of %d bytes", name, have, of)
end

local function count(n) return n == 1 and "1 byte" or n .. " bytes" end

-- parts takes a packet apart: bytes captured from the BTH on, and on the wire.
-- It returns the headers behind the BTH as { header, offset from the BTH, length },
-- the length of the payload or nil, and what is wrong or nil.
function parts(op, pad, captured, wire)
  local list = {}
  local form = FORMS[op]
  captured = min(captured, wire)
  if captured < 12 then return list, nil, truncated("BTH", max(captured, 0), 12) end
  local body = wire - 4
  if body < 12 then return list, nil, truncated("ICRC", wire - 12, 4) end
  if form == nil then return list, nil, string.format("BTH: unknown opcode: 0x%02x", op) end
  if op == CNP then pad = 0 end
  local have, o = min(body, captured), 12
  local add = function(h, n)
    if have - o < n then return truncated(h.name, max(have - o, 0), h.len) end
    list[#list + 1] = { h, o, n }
    o = o + n
  end
  local extra = form.reports and body - pad - form.len or 0
  for _, h in ipairs(form.headers) do
    local fault = add(h, h.len)
    if fault then return list, nil, fault end
    if h == HEADERS.aeth and (extra == TCAETH or extra == TCAETH_SHORT) then
      fault = add(HEADERS.tcaeth, extra)
      if fault then return list, nil, fault end
    end
  end
  local n = body - pad - o
  if n < 0 then
    return list, nil, string.format("BTH: wrong length: PadCnt is %d, with %s before the ICRC", pad, count(body - o))
  end
  if n > 0 and not form.payload then
    return list, nil, string.format("BTH: wrong length: %s behind the headers of %s", count(n), form.name)
  end
  return list, n, nil
end

end

local function u24(s, o)
  local a, b, c = byte(s, o + 1, o + 3)
  return (a * 256 + b) * 256 + c
end

local function u32(s, o)
  local a, b, c, d = byte(s, o + 1, o + 4)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

-- less is the signed distance a - b of two PSNs.
local function less(a, b)
  local d = (a - b) % 0x1000000
  return d >= 0x800000 and d - 0x1000000 or d
end

-- report reads a T/C AETH: LastFinishedPSN, the segments that count as
-- { first, last }, and what is wrong or nil.
local function report(s, o)
  local n, last = u24(s, o), u24(s, o + 3)
  local segments, fault = {}, nil
  if n < 1 or n > 4 then fault = "T/C AETH: SegmentNum is not 1 to 4: " .. n end
  local before = 0
  for i = 1, min(max(n, 1) - 1, 3) do
    local first, final = u24(s, o + 6 * i), u24(s, o + 6 * i + 3)
    segments[i] = { first, final }
    local left, right = less(first, last), less(final, last)
    if not fault and (left <= before or right < left) then
      fault = string.format("T/C AETH: segments are not ordered and disjoint above LastFinishedPSN: Seg%d is %d..%d", i, first, final)
    end
    before = right
  end
  return last, segments, fault
end

-- missing is the PSN ranges between the segments of a report.
local function missing(last, segments)
  local gaps = {}
  for _, s in ipairs(segments) do
    local first = (last + 1) % 0x1000000
    if s[1] ~= first then gaps[#gaps + 1] = { first, (s[1] - 1) % 0x1000000 } end
    last = s[2]
  end
  return gaps
end
