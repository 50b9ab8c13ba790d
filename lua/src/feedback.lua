-- What the receiver says of a stream.

local acknowledged, name, vouches, starts_before

do

-- ack moves the cumulative acknowledgement up to before q.
local function ack(s, q, p)
  if q <= s.acked and s.heard then return end
  s.heard = true
  s.peak = max(s.peak, s.top - s.acked)
  s.acked = max(s.acked, q)
  if s.d then reached(s.d, s.acked) end
  local seqs, frames, i, n = s.seqs, s.frames, s.head, s.n
  while i <= n and seqs[i] < q do
    acked_by[frames[i]] = p.frame
    i = i + 1
  end
  s.head = i
  local d = s.d
  if d == nil then return end
  if d.broken and d.broken.last < s.acked then
    d.broken, d.selective = nil, true -- nobody missed the rest
  end
  local t = d.trial
  if t and not t.ahead and t.set[1][1] < s.acked then
    if t.named and t.order ~= "overtaken" and t.set[2] == nil then
      local packets = t.packets
      local first, last = t.set[1][1], t.set[#t.set][2]
      confirm(s, p.frame) -- the receiver takes it for the answer
      d.run.lone = true
      d.answers[#d.answers + 1] = { first = first, last = last, packets = packets }
    else
      refute(s)
    end
  end
  if p.form.verb ~= "ack" or p.syndrome == nil or floor(p.syndrome / 32) % 4 == 0 then
    for k = #d.asks, 1, -1 do
      if d.asks[k].seq < s.acked then table.remove(d.asks, k) end
    end
  end
  if d.rnr and d.rnr < s.acked then d.rnr = nil end
  if d.gaps[1] or d.holes[1] or d.refused[1] or d.tardy[1] or d.named[1] or d.unseen[1] or d.again[1] then retire(s, s.acked) end
  set_remove(d.has, q - 0x10000000000, s.acked - 1)
  set_remove(d.turned, q - 0x10000000000, s.acked - 1)
  for k = #d.repairs, 1, -1 do
    if d.repairs[k][1] < s.acked then table.remove(d.repairs, k) end
  end
end

-- round_trip takes a round trip from a packet that was sent once and asked for
-- the acknowledgement that carries its own PSN.
local function round_trip(s, seq, p)
  for _, m in ipairs(s.asks_ack) do
    if m[1] == seq and m[3] then
      m[3] = false
      local span = p.time - m[2]
      if span <= 0 then return end
      if s.rtt == 0 or span < s.rtt then s.rtt = span end
      rtts[p.frame] = span
      return
    end
  end
end

-- named judges a PSN that the receiver misses.
function name(s, seq, p, kind)
  local d = s.d
  local t = d.trial
  if t and set_has(t.set, seq) then return end -- on its way
  if t and t.ahead then skip_ahead(s) end
  local i, inside = gap_at(d, seq)
  if inside and set_has(d.holes, seq) then
    local g = d.gaps[i]
    g.confirmed, g.suspect = kind, nil
    name_lost(d, seq, seq)
    return
  end
  if seq >= s.top or set_has(d.tardy, seq) then return end
  if set_has(d.refused, seq) then
    local old = d.answers[#d.answers]
    if old and old.last == seq - 1 then old.named, old.named_frame = seq, p.frame end
    return
  end
  if p.time - d.run.began < s.rtt / 2 and d.run.first <= seq and set_has(d.refused_before, seq) then
    return -- too soon to be about the copy of this run
  end
  miss(s, seq, seq, kind, p.frame)
  name_lost(d, seq, seq)
  if not s.response then set_insert(d.refused, seq + 1, s.top - 1) end
end

local function sequence_error(s, seq, p)
  local d = trouble(s)
  local b = d.broken
  if b and b.first <= seq and seq <= b.last and (b.packets > 0 or seq == b.first) then part(s) end
  if seq < s.acked or seq > s.top then return end
  ask(d, seq, p.time, "nak", p.frame)
  if d.rnr == seq then return end
  name(s, seq, p, "nak")
end

local function not_ready(s, seq)
  local d = trouble(s)
  if seq < s.acked or seq >= s.top then return end
  d.rnr = seq
  set_insert(d.refused, seq, s.top - 1)
end

-- starts_before reports whether a NAK shows that the flow began before the first
-- packet seen: the receiver has completed nothing yet.
function starts_before(s, seq, p)
  return seq < s.first and s.first - seq <= BACKWARD_REACH and p.msn == 0 and not s.heard and
    p.syndrome ~= nil and p.syndrome % 128 == 0x60
end

local function extend(s, seq, p)
  local d = trouble(s)
  local last = s.first - 1
  s.first, s.acked = seq, seq
  set_insert(d.unseen, seq, last)
  miss(s, seq, last, "observed", p.frame)
  set_insert(d.refused, last + 1, s.top - 1)
end

-- Feedback in the forms of the extensions.

local function irn_nack(s, seq, p)
  local d = trouble(s)
  if seq < s.first or seq >= s.top then return end
  ack(s, seq, p)
  local newest = seq
  if p.sack then
    newest = unwrap(s.top, p.sack)
    if newest >= s.acked and newest < s.top then set_insert(d.has, newest, newest) end
  end
  reported(s, seq, seq, newest, p, "irn-nack")
end

local function windowless_report(s, p)
  local d = trouble(s)
  if p.fault then return end
  local block = unwrap(s.top, p.finished)
  if block < s.first - 1 or block > s.top + FORWARD_REACH then return end
  d.tail_from, d.tail_to = 0, 0
  local newest = block
  for _, segment in ipairs(p.segments) do newest = unwrap(newest, segment[2]) end
  -- What is missing below the first block and was never named fell between two
  -- reports: nobody will fill it.
  for _, hole in ipairs(set_within(d.holes, s.acked, block)) do
    for _, silent in ipairs(set_without(d.named, hole[1], hole[2])) do
      if set_overlap(d.unseen, silent[1], silent[2]) == silent[2] - silent[1] + 1 then
        set_remove(d.holes, silent[1], silent[2])
        set_remove(d.unseen, silent[1], silent[2])
      end
    end
  end
  ack(s, block + 1, p)
  round_trip(s, block, p)
  local last = block
  for _, segment in ipairs(p.segments) do
    local first = unwrap(last, segment[1])
    reported(s, last + 1, first - 1, newest, p, "tc-aeth")
    last = unwrap(first, segment[2])
    set_insert(d.has, max(first, s.acked), min(last, s.top - 1))
  end
  if #p.segments == 0 then d.tail_from, d.tail_to = block + 1, s.top end
end

local function mp_feedback(s, seq, p)
  local d = trouble(s)
  if s.paths == nil then first_path(s, s.top - 1) end
  if p.aack then
    local cumulative = unwrap(s.top, p.aack)
    if cumulative < s.top and p.op == 0xfa then
      accepted(s, seq, cumulative, p.sport)
      heard_of(s, seq, p)
    elseif cumulative < s.top and seq == cumulative + 1 then
      turned_away(s, cumulative, p.sport)
    end
    if cumulative >= s.acked and cumulative < s.top then ack(s, cumulative + 1, p) end
  end
  if p.op == 0xfb then
    if seq < s.first or seq >= s.top then return end
    d.nacked = true
    if d.synchronised and set_has(d.synchronised, seq) and not set_has(d.holes, seq) then -- it came early
      set_insert(d.turned, seq, seq)
      answer(s, p.sport, seq, seq)
    elseif not set_has(d.turned, seq) then -- else it was refused, and neither lost nor late
      reported(s, seq, seq, seq, p, "mp-nack")
    end
    return
  end
  if seq >= s.acked and seq < s.top then set_insert(d.has, seq, seq) end
  path_trip(s, seq, p)
end

-- speaks settles which transport a connection uses.
local function speaks(h, transport)
  for _, side in ipairs { h, h.partner } do
    if side.transport ~= transport then
      side.transport = transport
      for _, s in ipairs { side.req, side.resp } do
        if s.d then
          s.d.refused, s.d.tardy = {}, {}
          refute(s)
        end
        quiet(s)
      end
    end
  end
end

function vouches(s, p)
  if s.moved == nil then return false end
  local psn, top = s.moved.p.psn, s.top % 0x1000000
  return p.psn == psn or less(p.psn, top) >= 0 and less(p.psn, psn) < 0 and less(psn, top) > 0
end

-- acknowledged takes what an acknowledgement says of the stream.
function acknowledged(s, p)
  if not s.on then return end
  if vouches(s, p) then move(s) end
  local kind = 0
  if p.form.verb == "ack" then
    if p.syndrome == nil then return end
    kind = floor(p.syndrome / 32) % 4
  end
  local seq = unwrap(s.top, p.psn)
  if kind == 3 and starts_before(s, seq, p) then extend(s, seq, p) end
  if seq < s.first - 1 or seq > s.top + FORWARD_REACH then return end
  local frame = carried(s, seq)
  if frame and p.form.verb ~= "read response" then
    if kind == 0 then acks_of[p.frame] = frame end
    if kind ~= 0 or p.op == 0xf1 or p.op == 0xf9 or p.op == 0xfb then mark(p.frame).names = frame end
  end
  if p.finished then
    speaks(s.half, "windowless")
    windowless_report(s, p)
  elseif p.op == 0xf1 or p.op == 0xf9 then
    speaks(s.half, "irn")
    irn_nack(s, seq, p)
  elseif p.op == 0xfa or p.op == 0xfb then
    speaks(s.half, "mp-rdma")
    mp_feedback(s, seq, p)
  elseif kind == 0 then
    -- The short way: nothing is wrong, and it acknowledges what asked for it.
    if frame and seq + 1 == s.acked and p.form.verb == "ack" and s.acked > s.first then mark(p.frame).duplicate = true end
    ack(s, seq + 1, p)
    round_trip(s, seq, p)
  elseif kind == 1 then
    ack(s, seq, p)
    not_ready(s, seq)
  elseif kind == 3 and p.syndrome % 128 == 0x60 then
    ack(s, seq, p)
    sequence_error(s, seq, p)
  end
  quiet(s)
end

end
