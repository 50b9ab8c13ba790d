-- The tree of a packet.

local function psns(first, last)
  first, last = first % 0x1000000, last % 0x1000000
  return first == last and tostring(first) or string.format("%d-%d", first, last)
end

local function whole(x) return string.format("%.0f", x) end

local function syndrome_text(v)
  local kind, code = floor(v / 32) % 4, v % 32
  if kind == 0 then return CREDITS[code] and "ACK, " .. CREDITS[code] .. " credits" or "ACK" end
  if kind == 1 then return string.format("RNR NAK, %s ms", RNR_TIMERS[code]) end
  if kind == 3 then return "NAK " .. (NAK_CODES[code] or "code " .. code) end
  return string.format("reserved syndrome 0x%02x", v)
end

local draw, draw_expert, draw_marks

do

local KINDS = { [0] = "ACK", "RNR NAK", "reserved", "NAK" }

local function draw_header(root, tvb, o, n, h)
  if h.single then
    root:add(h.fields[1].item, tvb:range(o, n))
    return root
  end
  local item = root:add(h.item, tvb:range(o, n))
  for _, f in ipairs(h.fields) do
    if f.off + f.size <= n then item:add(f.item, tvb:range(o + f.off, f.size)) end
  end
  return item
end

-- draw_report adds a T/C AETH: only the segments that count.
local function draw_report(root, tvb, s, o, n)
  local h = HEADERS.tcaeth
  local item = root:add(h.item, tvb:range(o, n))
  local last, segments, fault = report(s, o)
  for i, f in ipairs(h.fields) do
    local counts = i <= 2 + 2 * #segments or i > 8
    if counts and f.off + f.size <= n then item:add(f.item, tvb:range(o + f.off, f.size)) end
  end
  item:add(F.report_length, n):set_generated()
  if fault then
    item:add(F.report_error, fault):set_generated()
    item:add_proto_expert_info(X.report, fault)
    return
  end
  local texts = {}
  for _, gap in ipairs(missing(last, segments)) do
    local text = psns(gap[1], gap[2])
    texts[#texts + 1] = text
    item:add(F.report_gap, text):set_generated()
    item:add(F.report_count, (gap[2] - gap[1]) % 0x1000000 + 1):set_generated()
  end
  if texts[1] then item:append_text(", missing " .. table.concat(texts, ", ")) end
end

-- draw_management adds what stands in a management datagram.
local function draw_management(root, tvb, s, o, stop)
  local h = HEADERS.mad
  stop = min(stop, o + 256)
  if stop - o < h.len then return end
  local item = draw_header(root, tvb, o, h.len, h)
  if byte(s, o + 2) ~= CM_CLASS then return end
  local message = HEADERS[CM_MESSAGES[u16(s, o + 16)] or ""]
  o = o + h.len
  if message == nil or stop - o < message.len then return end
  item:append_text(", connection management " .. message.name)
  draw_header(item, tvb, o, message.len, message)
  local service = message == HEADERS.req and o + 8
  o = o + message.len
  if service and u32(s, service) == 0 and byte(s, service + 5) == 1 and stop - o >= HEADERS.ip_cm.len then
    draw_header(item, tvb, o, HEADERS.ip_cm.len, HEADERS.ip_cm)
    o = o + HEADERS.ip_cm.len
  end
  local rate = HEADERS.rate
  if (service or message == HEADERS.rep) and stop - o >= rate.len and u32(s, o) == RATE_MAGIC and byte(s, o + 5) == RATE_VERSION then
    draw_header(item, tvb, o, rate.len, rate)
  end
end

-- draw adds the packet whose BTH is at o of the tvb and of s, its bytes. captured
-- and wire count from the BTH on. It returns the item.
function draw(tree, tvb, s, o, captured, wire, carrier, status, sum)
  captured = min(captured, wire)
  local root = tree:add(rdma, tvb:range(o, captured))
  if captured < 12 then
    local _, _, fault = parts(0, 0, captured, wire)
    root:add(F.error, fault):set_generated()
    root:add(F.icrc_status, "absent"):set_generated()
    return root
  end
  local op, flags = byte(s, o + 1, o + 2)
  local form = FORMS[op]
  local title = form and form.name or string.format("Opcode(0x%02x)", op)
  root:append_text(string.format(", %s, QP 0x%06x, PSN %d", title, u24(s, o + 5), u24(s, o + 9)))
  root:add(F.opcode_name, tvb:range(o, 1), title)
  root:add(F.carrier, carrier):set_generated()
  local item = draw_header(root, tvb, o, 12, HEADERS.bth)
  if op == CNP then item:add_proto_expert_info(X.cnp) end
  local list, n, fault = parts(op, floor(flags / 16) % 4, captured, wire)
  local behind = 12
  for _, part in ipairs(list) do
    local h, at, len = part[1], part[2], part[3]
    behind = at + len
    if h == HEADERS.tcaeth then
      draw_report(root, tvb, s, o + at, len)
    else
      item = draw_header(root, tvb, o + at, len, h)
      if h == HEADERS.aeth then
        local v = byte(s, o + at + 1)
        local kind, code = floor(v / 32) % 4, v % 32
        item:append_text(": " .. syndrome_text(v))
        item:add(F.kind, tvb:range(o + at, 1), KINDS[kind]):set_generated()
        if kind == 0 and CREDITS[code] then item:add(F.credits, tvb:range(o + at, 1), CREDITS[code]):set_generated() end
        if kind == 1 then item:add(F.rnr_timer, tvb:range(o + at, 1), RNR_TIMERS[code]):set_generated() end
        if kind == 3 then item:add(F.nak_code, tvb:range(o + at, 1), code):set_generated() end
      end
    end
  end
  if fault then
    root:add(F.error, fault):set_generated()
    root:add_proto_expert_info(X.error, fault)
  else
    root:add(F.payload_len, n):set_generated()
    local here = min(n, captured - behind)
    if here > 0 then
      root:add(F.payload, tvb:range(o + behind, here))
      if form.service == "UD" and u24(s, o + 5) == 1 then draw_management(root, tvb, s, o + behind, o + behind + here) end
    end
    local pad = min(wire - 4, captured) - behind - n
    if pad > 0 then root:add(F.pad, tvb:range(o + behind + n, pad)) end
  end
  if captured == wire and wire >= 16 then
    item = root:add_le(F.icrc, tvb:range(o + wire - 4, 4))
    if status == "bad" then
      item:append_text(string.format(", should be 0x%s", sum))
      item:add_proto_expert_info(X.icrc)
    end
  else
    status = "absent"
  end
  root:add(F.icrc_status, status):set_generated()
  return root
end

local function span_of(ns)
  ns = max(ns, 0)
  local seconds = floor(ns / 1e9)
  return NSTime.new(seconds, floor(ns - seconds * 1e9))
end

-- draw_expert adds the expert information of a frame.
function draw_expert(item, m)
  for _, g in ipairs(m.gaps or {}) do
    item:add_proto_expert_info(X.gap, "PSN " .. psns(g.first, g.last) .. " is missing (" .. g.kind .. ")")
  end
  for _, again in ipairs(m.again or {}) do
    item:add_proto_expert_info(X.lost_again, "PSN " .. psns(again[1], again[2]) .. " was sent again and is missing once more")
  end
  if m.cause then item:add_proto_expert_info(X.retransmission, "Retransmission (" .. m.cause .. ")") end
  if m.late then item:add_proto_expert_info(X.out_of_order) end
  if m.nak then item:add_proto_expert_info(X.nak, m.nak_psn and "NAK: PSN " .. m.nak_psn .. " is missing" or "NAK: " .. m.nak) end
  if m.rnr then item:add_proto_expert_info(X.rnr_nak) end
  if m.duplicate then item:add_proto_expert_info(X.duplicate) end
end

-- draw_marks adds what the analysis has to say of a frame.
function draw_marks(root, m, frame)
  local by, acks, rtt = acked_by[frame], acks_of[frame], rtts[frame]
  if m == nil and by == nil and acks == nil and rtt == nil then return end
  local item = root:add(F.analysis)
  item:set_generated()
  local add = function(field, ...) return item:add(field, ...):set_generated() end
  if by then add(F.frame_acked_by, by) end
  if acks then add(F.acks_frame, acks) end
  if rtt then add(F.rtt, span_of(rtt)) end
  if m == nil then return end
  for _, g in ipairs(m.gaps or {}) do
    add(F.gap, psns(g.first, g.last))
    add(F.gap_first, g.first % 0x1000000)
    add(F.gap_last, g.last % 0x1000000)
    add(F.gap_count, g.last - g.first + 1)
    add(F.gap_evidence, g.confirmed and g.kind .. ", " .. g.confirmed or g.kind)
    if g.closed then add(F.gap_closed, g.closed) end
    if g.closed_frame then add(F.gap_closed_by, g.closed_frame) end
  end
  for _, again in ipairs(m.again or {}) do
    add(F.lost_again, psns(again[1], again[2]))
  end
  if m.cause then
    add(F.retransmission)
    add(F.retransmission_cause, m.cause)
    if m.of then add(F.retransmission_of, m.of) end
    if m.nak_frame then add(F.nak_frame, m.nak_frame) end
    if m.reaction and m.reaction >= 0 then add(F.nak_to_retransmission, span_of(m.reaction)) end
  end
  if m.late then add(F.out_of_order) end
  if m.nak then
    add(F.nak)
    if m.nak_psn then add(F.nak_psn, m.nak_psn) end
  end
  if m.rnr then add(F.rnr_nak) end
  if m.duplicate then add(F.duplicate_ack) end
  if m.copy then add(F.duplicate_capture) end
  if m.names then add(F.names_frame, m.names) end
  draw_expert(item, m)
end

end

-- note_of is what the Info column says of a frame.
local function note_of(m)
  local words = {}
  for _, g in ipairs(m.gaps or {}) do words[#words + 1] = "[Gap " .. psns(g.first, g.last) .. "]" end
  for _, again in ipairs(m.again or {}) do words[#words + 1] = "[Lost again " .. psns(again[1], again[2]) .. "]" end
  if m.cause then words[#words + 1] = "[Retransmission: " .. m.cause .. "]" end
  if m.late then words[#words + 1] = "[Out of order]" end
  if m.duplicate then words[#words + 1] = "[Duplicate ACK]" end
  if m.copy then words[#words + 1] = "[Captured twice]" end
  return table.concat(words, " ")
end
