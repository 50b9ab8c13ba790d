-- IRN, the windowless cumulative ACK and MP-RDMA repeat just what the receiver
-- misses, and their receivers keep what comes out of order.

local reported

do

local MAX_REPAIRS = 1024 -- resends remembered while feedback may not know of them

-- asks_for reports whether the receiver's reports show seq missing.
local function asks_for(s, seq)
  local has = s.d.has
  return #has > 0 and seq >= s.acked and seq < has[#has][2] and not set_has(has, seq)
end

local function repair_cause(s, p, seq)
  local d, transport, cause = s.d, s.half.transport, nil
  if transport == "irn" then
    if set_has(d.named, seq) or asks_for(s, seq) then cause = "irn-nack" end
  elseif transport == "windowless" then
    if set_has(d.named, seq) or set_overlap(d.has, seq, s.top) > 0 or seq >= d.tail_from and seq < d.tail_to then
      cause = "tc-aeth"
    end
  elseif d.nacked then
    cause = "mp-nack"
  elseif p.retx then
    cause = "early"
  end
  if cause == nil then
    cause = timed_out(s, seq, p.time, p.time - last_activity(s)) and "timeout" or "early"
  end
  if cause == "timeout" or cause == "early" or cause ~= d.run.cause then
    d.run = { id = d.run.id + 1, cause = cause, began = p.time, first = seq, before = 0 }
  end
  for _, m in ipairs(s.asks_ack) do
    if m[1] == seq then m[2], m[3] = p.time, false end
  end
end

-- began_before takes a packet below the first one seen that is not sent again: it
-- was overtaken on a shorter path when the capture began.
local function began_before(s, p, seq, last)
  local first, behind = last + 1, s.first - 1
  if s.acked == s.first then s.acked = seq end
  s.first = seq
  tell_late(s, p.frame)
  if first <= behind then
    set_insert(s.d.unseen, first, behind)
    miss(s, first, behind, "observed", p.frame)
  end
  s.last_time = p.time
end

-- repeated follows a packet below the top where the sender repeats selectively.
repeated = function(s, p, seq, last)
  local d = trouble(s)
  local hole = set_has(d.holes, seq)
  local named = (set_has(d.named, seq) or asks_for(s, seq)) and s.half.transport ~= "mp-rdma"
  local silent = d.timer > 0 and p.time - last_activity(s) >= d.timer * 3 / 4
  s.again = s.again + 1
  if seq < s.first and seq >= s.first - BACKWARD_REACH and not p.retx and s.half.transport == "mp-rdma" then
    began_before(s, p, seq, last)
    return
  end
  if not p.retx and (hole and not named and set_has(d.unseen, seq) and not silent or set_has(d.missed, seq) and not silent or
    not hole and s.half.transport == "mp-rdma" and set_has(d.lost_psns, seq)) then
    if hole and set_has(d.unseen, seq) then
      late(s, seq, last, p.frame)
    elseif set_has(d.missed, seq) then
      arrived_after_all(s, seq, last)
    else
      was_late(s, seq, last) -- over a slow path, behind the copy that was sent in its place
    end
    tell_late(s, p.frame)
    s.last_time = p.time
    return
  end
  if not hole then
    for i, old in ipairs(d.answers) do
      if old.first == seq then -- it came late, and now comes again
        for _, packet in ipairs(old.packets) do
          tell_late(s, packet.frame)
          was_late(s, packet.first, packet.last)
        end
        table.remove(d.answers, i)
        break
      end
    end
  end
  repair_cause(s, p, seq)
  if hole then
    local again = set_has(d.unseen, seq) and named and not p.retx
    fill(s, seq, last, p, p.form.verb == "read")
    if again then
      d.answers[#d.answers + 1] = { first = seq, last = last, packets = { { first = seq, last = last, frame = p.frame } } }
      if #d.answers > MAX_REPAIRS then table.remove(d.answers, 1) end
    end
  elseif s.half.transport == "irn" and d.run.cause == "irn-nack" and seq >= s.acked and not set_has(d.has, seq) and asks_for(s, seq) then
    -- The sender sees the hole in the bitmap that the NACKs drew.
    miss(s, seq, last, "irn-nack", p.frame)
    name_lost(d, seq, last)
    fill(s, seq, last, p)
  end
  set_remove(d.turned, seq, last)
  if s.half.transport == "mp-rdma" then
    local b = open_book(d, seq)
    b.sent = b.sent + 1
  end
  d.repairs[#d.repairs + 1] = { seq, s.top, p.time }
  if #d.repairs > MAX_REPAIRS then table.remove(d.repairs, 1) end
  tell_resend(s, p.frame, seq, d.run.cause, true)
  s.last_time = p.time
end

-- under_way is the PSNs of first..last whose last copy was sent after newest was,
-- or, where the order of sending proves nothing, after the given time.
local function under_way(s, first, last, newest, time)
  local set, by_time = {}, s.half.transport == "mp-rdma"
  for _, r in ipairs(s.d.repairs) do
    if r[1] >= first and r[1] <= last then
      if by_time and r[3] > time or not by_time and newest < r[2] then
        set_insert(set, r[1], r[1])
      else
        set_remove(set, r[1], r[1])
      end
    end
  end
  return set
end

-- packets_in is the parts of a span that packets begin in: a READ request that is
-- missing is one, however many PSNs it takes.
local function packets_in(s, span)
  return (s.response or s.reads[1] == nil) and { span } or sent(s, span[1], span[2])
end

-- reported takes PSNs that the receiver misses, though it has others up to newest.
function reported(s, first, last, newest, p, kind)
  local d = s.d
  first, last = max(first, s.first, s.acked), min(last, s.top - 1)
  if first > last then return end
  for _, piece in ipairs(set_without(d.has, first, last)) do
    for _, hole in ipairs(set_within(d.holes, piece[1], piece[2])) do
      for _, g in ipairs(d.gaps) do
        if g.first <= hole[2] and g.last >= hole[1] and g.kind ~= kind then g.confirmed = kind end
      end
      name_lost(d, hole[1], hole[2])
    end
    for _, seen in ipairs(set_without(d.holes, piece[1], piece[2])) do
      local set = under_way(s, seen[1], seen[2], newest, p.time - max(s.rtt, slowest_path(s)))
      for _, fresh in ipairs(set_without(set, seen[1], seen[2])) do
        for _, span in ipairs(packets_in(s, fresh)) do
          miss(s, span[1], span[2], kind, p.frame)
          name_lost(d, span[1], span[2])
        end
        if kind == "mp-nack" then
          local b = open_book(d, fresh[1])
          b.lost = b.lost + 1
        end
      end
    end
  end
end

end
