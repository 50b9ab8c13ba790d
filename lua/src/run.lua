-- Runs: which packets are sent again, and why.

local function last_activity(s)
  local partner = s.half.partner
  return partner and max(s.last_time, partner.feedback_time) or s.last_time
end

local function timer_of(s) return s.half.timer > 0 and s.half.timer or s.d and s.d.timer or 0 end

-- too_late reports whether a resend comes too late to answer a NAK.
local function too_late(s, silence)
  local timer = timer_of(s)
  return timer > 0 and silence >= timer * 3 / 4 or s.rtt > 0 and silence > SLOWEST_ANSWER * s.rtt
end

-- waited is how long before now the last copy of seq passed, as far as known.
local function waited(s, seq, now, silence)
  local wait = silence
  for _, m in ipairs(s.asks_ack) do
    if m[1] <= seq then wait = max(silence, now - m[2]) end
  end
  return wait
end

local function timed_out(s, seq, now, silence)
  local d, wait = s.d, waited(s, seq, now, silence)
  if wait <= 0 then return false end
  if s.half.timer > 0 then return wait >= s.half.timer * 3 / 4 end
  local idle = silence * 2 >= wait and silence > max(4 * s.rtt, SHORTEST_TIMER)
  if idle and (d.timer == 0 or silence < d.timer) then d.timer = silence end
  return idle or d.timer > 0 and wait >= d.timer * 3 / 4
end

-- What the receiver asks for: to resend from seq on.

local function ask(d, seq, time, cause, frame)
  local asks = d.asks
  if asks[#asks] and asks[#asks].seq == seq then table.remove(asks) end
  if #asks == 4 then table.remove(asks, 1) end
  asks[#asks + 1] = { seq = seq, time = time, cause = cause, frame = frame }
end

-- answering is the index of what a run from seq on answers: the highest below it.
local function answering(d, seq)
  local best
  for i, k in ipairs(d.asks) do
    if k.seq <= seq and (best == nil or k.seq >= d.asks[best].seq) then best = i end
  end
  return best
end

local function tell_resend(s, frame, seq, cause, again)
  local m = mark(frame)
  if m.cause == nil then s.resent = s.resent + 1 end
  if m.late then
    m.late = nil
    s.late = s.late - 1
  end
  m.cause = cause or "early"
  local first, i = carried(s, seq)
  if first ~= frame then m.of = first end
  local d = s.d
  if d.run.asked then
    m.nak_frame, m.nak_time = d.run.asked.frame, d.run.asked.time
    m.reaction = d.run.reaction
    d.run.asked = nil -- the first packet of the run alone
  end
  if i and again then s.frames[i] = frame end -- what an acknowledgement is for from now on
end

local function tell_late(s, frame)
  local m = mark(frame)
  if m.late then return end
  if m.cause then
    m.cause, m.of, m.reaction, m.nak_frame = nil, nil, nil, nil
    s.resent = s.resent - 1
  end
  m.late = true
  s.late = s.late + 1
end

-- repeats marks a late packet as one that was sent again, too.
local function repeats(s, frame, seq, cause)
  local m = mark(frame)
  m.cause, m.of = cause or "early", carried(s, seq)
  s.resent = s.resent + 1
end

local follow, pair_by_resend

-- Requests that no acknowledgement answers in place of their own answer.
local AWAITS = { read = true, atomic = true, flush = true, ["atomic write"] = true }

-- new_run begins a resend whose first packet seen is seq, after a silence.
local function new_run(s, seq, frame, time, silence)
  local d = trouble(s)
  pair_by_resend(s, seq)
  local resume, cause, k = seq, "early", answering(d, seq)
  if k and not too_late(s, silence) then
    local from = d.asks[k]
    for _ = 1, k do table.remove(d.asks, 1) end
    k = from
  else
    if k then for _ = 1, k do table.remove(d.asks, 1) end end
    k = nil
  end
  if d.rnr and seq >= d.rnr and (k == nil or k.seq <= d.rnr) then
    cause, resume, k = "rnr", d.rnr, nil
    d.rnr = nil
  elseif k then
    cause, resume = k.cause, k.seq
  elseif s.implied then
    cause = "implied-nak"
  else
    if timed_out(s, seq, time, silence) then cause = "timeout" end
    if s.heard and not s.response and not selects(s) then resume = min(seq, s.acked) end
  end
  for _, old in ipairs(d.answers) do
    if resume <= old.first and cause ~= "timeout" or old.order == "overtaken" and d.numbers.counts then
      -- This run carries it again: it was late and no answer.
      for _, packet in ipairs(old.packets) do
        tell_late(s, packet.frame)
        was_late(s, packet.first, packet.last)
        set_insert(d.tardy, packet.first, packet.last)
      end
    elseif old.named then
      set_remove(d.refused, old.named, old.named)
      miss(s, old.named, old.named, "observed", old.named_frame)
    end
  end
  d.answers, d.skipped, d.refused_before = {}, {}, {}
  for _, span in ipairs(d.refused) do set_insert(d.refused_before, span[1], span[2]) end
  d.prior = d.run
  d.run = { id = d.run.id + 1, cause = cause, began = time, first = resume, before = s.next, start = seq, after = d.sent_last or 0,
    asked = k, reaction = k and time - k.time }
  s.next = seq
  for _, m in ipairs(s.asks_ack) do
    if m[1] >= seq then m[3] = false end
    if m[1] == seq then m[2] = time end
  end
end

-- A trial is packets that filled holes behind the current run, while it is open
-- whether they were late or are the first of a resend run.

local function trial_add(s, p, first, last)
  local t = s.d.trial
  set_insert(t.set, first, last)
  t.next = max(t.next, last + 1)
  if t.packets[1] == nil then t.order = p.order elseif t.order ~= p.order then t.order = nil end
  t.packets[#t.packets + 1] = { first = first, last = last, frame = p.frame, read = p.form.verb == "read" }
  s.again = s.again + 1
  s.last_time = p.time
  if t.named then tell_resend(s, p.frame, first, "nak") else tell_late(s, p.frame) end
end

-- confirm turns the trial into a run.
local function confirm(s, frame)
  local d, t = s.d, s.d.trial
  d.trial = nil
  new_run(s, t.set[1][1], t.frame, t.time, t.silence)
  local at = d.run.first
  if not t.early then
    for _, span in ipairs(t.set) do
      if at < span[1] then pass_over(s, at, span[1] - 1, frame) end
      at = span[2] + 1
    end
  end
  for _, packet in ipairs(t.packets) do
    if not t.early then
      fill(s, packet.first, packet.last, packet, packet.read)
      accept(s, packet.first, packet.last)
    end
    tell_resend(s, packet.frame, packet.first, d.run.cause, true)
  end
  s.next = t.next
end

-- straggle takes the packets of a trial for late ones. Those that a resend run
-- passed over are copies of that run, and so retransmissions too.
local function straggle(s, t)
  local d = s.d
  for _, packet in ipairs(t.packets) do
    local first, last = packet.first, packet.last
    local repeated = set_overlap(d.unseen, first, last) == 0 or set_has(d.again, first)
    late(s, first, last, packet.frame)
    tell_late(s, packet.frame)
    if repeated then repeats(s, packet.frame, first, d.run.cause) end
    accept(s, first, last)
    set_insert(d.tardy, first, last)
  end
end

-- skip_ahead decides that a packet ahead of the run belongs to it.
local function skip_ahead(s)
  local d, t = s.d, s.d.trial
  d.trial = nil
  local packet = t.packets[1]
  pass_over(s, s.next, packet.first - 1, packet.frame)
  fill(s, packet.first, packet.last, packet)
  accept(s, packet.first, packet.last)
  s.next = packet.last + 1
  tell_resend(s, packet.frame, packet.first, d.run.cause, true)
end

-- refute ends a trial without a run: what came was late, or answers a NAK alone.
local function refute(s)
  local d = s.d
  local t = d and d.trial
  if not t then return end
  if t.ahead then return skip_ahead(s) end
  d.trial = nil
  if t.early then
    s.first = t.set[1][1]
    if not s.heard then s.acked = s.first end
    return
  end
  if not t.named or s.half.service == "UC" then return straggle(s, t) end
  for _, packet in ipairs(t.packets) do
    fill(s, packet.first, packet.last, packet, packet.read)
    accept(s, packet.first, packet.last)
    tell_resend(s, packet.frame, packet.first, "nak", true)
  end
  d.answers[#d.answers + 1] = { first = t.set[1][1], last = t.set[#t.set][2], packets = t.packets, order = t.order }
  if #d.answers > 64 then table.remove(d.answers, 1) end
end

-- keep copies a packet that must outlive its frame.
local function keep(p)
  local c = {}
  for k, v in pairs(p) do c[k] = v end
  return c
end

local part, end_epoch, near, move, arrive, repeated

do

local function asked_within(d, q)
  local i, inside = gap_at(d, q)
  local k = answering(d, q)
  return inside and k ~= nil and d.asks[k].seq >= d.gaps[i].first
end

local function try_out(s, p, first, last, what)
  local d = trouble(s)
  local t = { set = {}, packets = {}, next = first, frame = p.frame, time = p.time, silence = p.time - last_activity(s),
    named = asked_within(d, first), ahead = what == "ahead", early = what == "early" }
  d.trial = t
  local after_timer = not t.named and first < s.next and s.half.service ~= "UC" and too_late(s, t.silence)
  trial_add(s, p, first, last)
  if after_timer then confirm(s, p.frame) end
end

local function may_be_late(s, p, seq)
  local d = s.d
  if p.retx or not set_has(d.holes, seq) then return false end
  local i, inside = gap_at(d, seq)
  return inside and d.gaps[i].kind == "observed"
end

-- precedes reports whether the packet lies below the first PSN seen: overtaken
-- when the capture began.
local function precedes(s, p, seq)
  local d = s.d
  if p.retx or seq >= s.first or seq < s.first - BACKWARD_REACH or s.heard or s.implied or d.rnr then return false end
  if d.trial and (set_has(d.trial.set, seq) or #d.trial.set == 16) then return false end
  return answering(d, seq) == nil
end

local function break_off(s, first, last, frame, suspect)
  s.d.broken = { first = first, last = last, frame = frame, suspect = suspect, packets = 0 }
end

function part(s)
  local b = s.d and s.d.broken
  if b then
    s.d.broken = nil
    pass_over(s, b.first, b.last, b.frame, b.suspect)
  end
end

-- mend decides on a resend run that broke off when a packet comes after it.
local function mend(s, seq)
  local d = s.d
  local b = d and d.broken
  if not b then return end
  b.packets = b.packets + 1
  if seq == b.first then
    d.broken, s.next, d.overtaken = nil, seq, true
  elseif seq ~= s.next or b.packets >= MAX_STRAGGLERS then
    part(s)
  end
end

-- resend takes a packet below the top that the current run carries.
local function resend(s, p, first, last)
  local d = s.d
  s.again = s.again + 1
  d.run.begins = d.run.begins or p.place
  if set_overlap(d.holes, first, last) > 0 then fill(s, first, last, p, p.form.verb == "read") end
  accept(s, first, last)
  if d.overtaken then
    set_insert(d.tardy, first, last)
    d.overtaken = false
  else
    set_remove(d.tardy, first, last)
  end
  s.next, s.last_time = last + 1, p.time
  tell_resend(s, p.frame, first, d.run.cause, true)
end

-- of_run reports whether a packet that was overtaken is one of the current run.
local function of_run(d, at, seq)
  local r = d.run
  if r.id == 0 then return true end
  if r.begins == nil then return at > r.after end
  return at >= r.begins or at > r.after and seq < r.start
end

-- trail takes a packet that others of its sender overtook: its copy was not lost.
local function trail(s, p, first, last, n)
  local d = s.d
  local current = of_run(d, p.place, first)
  local b = d.broken
  if b and b.first <= first and first <= b.last then part(s) end
  if not current and first > s.next then d.overtaken = true end -- it draws a NAK for what the run carries next
  if first >= s.top then
    local after = s.next
    if first > s.top then
      pass_over(s, s.top, first - 1, p.frame)
      s.top, s.open = first, false
    end
    accept(s, first, last)
    advance(s, p, n)
    if not current then s.next = after end
    return
  end
  s.again, s.last_time = s.again + 1, p.time
  if current and set_has(d.skipped, first) then
    set_remove(d.skipped, first, last)
    tell_late(s, p.frame)
    repeats(s, p.frame, first, d.run.cause)
    return
  end
  local i, inside = gap_at(d, first)
  if set_has(d.missed, first) then
    tell_late(s, p.frame)
    arrived_after_all(s, first, last)
  elseif set_has(d.holes, first) and inside and d.gaps[i].kind ~= "observed" then
    fill(s, first, last, p)
    tell_resend(s, p.frame, first, d.run.cause)
  elseif set_has(d.holes, first) then
    straggle(s, { packets = { { first = first, last = last, frame = p.frame } } })
    return
  elseif set_has(d.lost_psns, first) and came_behind(s, first) then
    tell_late(s, p.frame)
    repeats(s, p.frame, first, "early")
  else
    tell_resend(s, p.frame, first)
  end
  accept(s, first, last)
  set_insert(d.tardy, first, last)
end

-- learn_order believes the identification, and decides what is on trial thereby.
local function learn_order(s, p, seq)
  local d = s.d
  local n = d and d.numbers
  if n == nil or p.order == nil or s.response or n.counts or seq >= s.top or seq < s.first then return end
  if p.order == "overtaken" then
    n.late = true
  else
    n.back = true
    n.counts = not set_has(d.holes, seq)
  end
  n.counts = n.counts or n.late and n.back
  local t = d.trial
  if not n.counts or ordered(s, p) == nil or t == nil or t.ahead or t.early then return end
  if t.order == "overtaken" then
    d.trial = nil
    straggle(s, t)
  elseif t.order == "in order" then
    confirm(s, p.frame)
  end
end

-- behind follows a packet below the top.
local function behind(s, p, first, last)
  local d = trouble(s)
  local turn = ordered(s, p) == "in order"
  local t = d.trial
  if t and t.ahead then
    if first == s.next then
      d.trial = nil
      straggle(s, t)
      d.overtaken = true
    else
      skip_ahead(s)
    end
  end
  t = d.trial
  if t then
    local twice = set_has(t.set, first) and s.half.service ~= "UC" -- a run carries again what was late
    local apart = t.order == "overtaken" and p.order == "in order" -- what came late, and a resend
    if not twice and not apart and first < s.next and t.early == (first < s.first) and (may_be_late(s, p, first) or precedes(s, p, first)) then
      trial_add(s, p, first, last)
      return
    end
    if not twice and not apart and first < s.next and first >= t.set[1][1] and s.half.service ~= "UC" then confirm(s, p.frame) else refute(s) end
  end
  if first < s.next and set_has(d.skipped, first) then
    set_remove(d.skipped, first, last)
    s.again, s.last_time = s.again + 1, p.time
    tell_late(s, p.frame)
    repeats(s, p.frame, first, d.run.cause)
    return
  elseif first == s.next then
  elseif first > s.next and sent_rest(s, p, first, too_late(s, p.time - last_activity(s))) then
    pass_over(s, s.next, first - 1, p.frame)
  elseif first > s.next and sent_less(s, p, first) then
    new_run(s, first, p.frame, p.time, p.time - last_activity(s))
  elseif first > s.next and (d.points[first] or first <= s.acked and AWAITS[p.form.verb]) then
    new_run(s, first, p.frame, p.time, p.time - last_activity(s)) -- all before it arrived
  elseif first > s.next and d.run.lone and first == d.run.before then
    d.run = d.prior -- the run before goes on
  elseif first > s.next and first >= d.run.before and first < d.run.before + MAX_STRAGGLERS and not turn then
    break_off(s, s.next, first - 1, p.frame, false)
  elseif first > s.next and not turn and may_be_late(s, p, first) then
    return try_out(s, p, first, last, "ahead")
  elseif first > s.next then
    pass_over(s, s.next, first - 1, p.frame)
  elseif not turn and may_be_late(s, p, first) then
    return try_out(s, p, first, last, "behind")
  elseif not turn and precedes(s, p, first) then
    return try_out(s, p, first, last, "early")
  elseif s.half.service == "UC" then
    refute(s)
    s.moved = { p = keep(p), n = last - first + 1 }
    return
  else
    new_run(s, first, p.frame, p.time, p.time - last_activity(s))
    pass_over(s, d.run.first, first - 1, p.frame)
  end
  resend(s, p, first, last)
end

-- Epochs: a queue pair that is used again begins anywhere in the PSN space.

function end_epoch(s)
  refute(s)
  part(s)
  local d = s.d
  if d then
    local run = d.run.id + 1
    s.d = nil
    d = trouble(s)
    d.run.id = run
  end
end

function near(s, psn)
  local seq = unwrap(s.top, psn)
  if seq >= s.top then
    local step = max(FORWARD_STEP, 4 * s.peak)
    if s.tail then step = max(step, most_of(s.tail) + FORWARD_STEP) end
    return seq - s.top <= step
  end
  if s.heard then return seq >= s.acked - max(BACKWARD_REACH, 4 * s.peak) or seq >= s.top - BACKWARD_REACH end
  return s.top - seq <= FORWARD_REACH
end

-- move believes the packet that was set aside: a wide gap, or an epoch.
function move(s)
  local c = s.moved
  s.moved = nil
  local ahead = less(c.p.psn, s.top % 0x1000000)
  if ahead < 0 or ahead > FORWARD_REACH then
    end_epoch(s)
    begin(s, c.p, c.p.psn)
  end
  follow(s, c.p, c.n)
end

function arrive(s, p, n)
  if not s.on then
    begin(s, p, p.psn)
    advance(s, p, n)
    quiet(s)
    return
  end
  local c = s.moved
  if near(s, p.psn) then
    if c and s.half.service == "UC" and less(c.p.psn, s.top % 0x1000000) < 0 and
      p.psn ~= s.top % 0x1000000 and less(p.psn, c.p.psn) == c.n then
      move(s)
      return arrive(s, p, n)
    end
    s.moved = nil -- a stray
    return follow(s, p, n)
  end
  if c == nil then
    s.moved, s.expect = { p = keep(p), n = n }, -1
    return
  end
  local far = less(p.psn, c.p.psn)
  if far <= -COHERENT or far > COHERENT + c.n then
    s.moved = { p = keep(p), n = n }
    return
  end
  move(s)
  arrive(s, p, n)
end

-- enter takes a packet at the top. One of MP-RDMA that says it is sent again was
-- lost before, where no copy passed.
local function enter(s, p, n, seq, last)
  local lost = p.retx and s.half.transport == "mp-rdma" and seq >= s.acked
  if lost then miss(s, seq, last, "retx", p.frame) end
  advance(s, p, n)
  if lost then repeated(s, p, seq, last) end
end

-- follow takes a packet whose PSN is believed.
follow = function(s, p, n)
  local seq = unwrap(s.top, p.psn)
  if seq >= s.top then
    settle_tail(s, seq)
    seq = max(seq, s.top)
  end
  local last = seq + n - 1
  if p.synchronised then
    local d = trouble(s)
    d.synchronised = d.synchronised or {}
    set_insert(d.synchronised, seq, seq)
  end
  learn_order(s, p, seq)
  if ordered(s, p) == "overtaken" then
    trail(s, p, seq, last, n)
    return quiet(s)
  end
  mend(s, seq)
  if seq == s.top and s.next == seq then
    refute(s)
    accept(s, seq, last)
    enter(s, p, n, seq, last)
  elseif seq >= s.top then
    refute(s)
    if s.next == s.top or s.d.run.lone or selects(s) or seq == s.top and sent_less(s, p, seq) then
    elseif sent_rest(s, p, seq, too_late(s, p.time - last_activity(s))) then
      pass_over(s, s.next, s.top - 1, p.frame)
    else
      break_off(s, s.next, s.top - 1, p.frame, seq == s.top)
    end
    if seq > s.top then
      pass_over(s, s.top, seq - 1, p.frame)
      s.top, s.open = seq, false
    end
    accept(s, seq, last)
    enter(s, p, n, seq, last)
  elseif selects(s) and s.half.transport ~= "go-back-n" then
    if s.paths then travelled(s, p, seq) end
    repeated(s, p, seq, last)
  else
    behind(s, p, seq, last)
  end
  sent_up_to(s, p)
  quiet(s)
end

end
