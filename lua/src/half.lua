-- A half is everything that one end sends to one queue pair of another. Two
-- halves that answer each other are a connection. The BTH names no source queue
-- pair, so that PSNs must tell who answers whom, or connection management.

local halves = {}  -- by addresses, then by queue pair number
local between = {} -- by addresses, all halves in a list
local all = {}     -- in order of appearance
local agreed = {}  -- by addresses and queue pair number, what connection management set
local requests = {} -- REQs that wait for their REP
local remembered = 0

local new_half, mirrored, take, manage

do

local MAX_HALVES = 65536
local MAX_SUITORS = 256
local MAX_WAITING = 64 -- acknowledgements whose stream is not known yet

local meet, take_feedback


function new_half(src, dst, qp, form)
  if #all >= MAX_HALVES then return nil end
  local service = form.service
  local h = {
    src = src, dst = dst, qp = qp, service = service == "IRN" and "RC" or service,
    transport = "go-back-n", timer = 0, feedback_time = 0, mtus = MTUS,
    ids = {}, times = {}, ops = {}, steps = 0, stays = 0, id = -1, -- to tell copies of a mirror
    naks = 0, acks = 0, rnr = 0, good = 0, bad = 0, courted_by = {}
  }
  if service == "IRN" then h.transport = form.len == 20 and form.mp and "mp-rdma" or "irn" end
  h.req = new_stream(h, false)
  all[#all + 1] = h
  local key = src .. dst
  local by_qp = halves[key]
  if by_qp == nil then
    by_qp = {}
    halves[key], between[key] = by_qp, {}
  end
  by_qp[qp] = h
  local near = between[key]
  near[#near + 1] = h
  meet(h)
  return h
end

local NO_RTT_WINDOW, DISTINCT_WINDOW = 1e4, 1e9 -- ns

-- distinct reports whether the sender gives every packet an IP identification of
-- its own, as its last packets show.
local function distinct(s)
  local ids, stays, n = s.ids, 0, s.n
  local from = max(2, n - 31)
  for i = from, n do
    if ids[i] == ids[i - 1] then stays = stays + 1 end
  end
  return n - from + 1 - stays + (from == 2 and 1 or 0) > 16 * stays
end

-- mirrored reports whether the packet is a second sight of a frame: equal PSN
-- and IP identification within less than half a round trip.
function mirrored(h, p)
  local q = h.req
  local known = q.on and not p.form.response
  local seq = known and unwrap(q.top, p.psn)
  if known and seq >= q.top then return false end -- new data; it is noted where it is followed
  local id, time, place
  local what = p.op + p.psn * 256 + (p.syndrome or 0) * 0x100000000
  if known then
    local _, k = carried(q, seq)
    place = k
    if place then id, time = q.ids[place], q.times[place] end
  end
  local slot = p.psn % 256 + (p.form.response and 256 or 0)
  if h.ops[slot] == what then id, time = h.ids[slot], h.times[slot] end
  if id == p.id then
    local rtt, other = q.rtt, h.partner and h.partner.req.rtt or 0
    if other > 0 and (rtt == 0 or other < rtt) then rtt = other end
    local window = rtt == 0 and NO_RTT_WINDOW or rtt / 2
    if known and distinct(q) or not known and h.steps > 16 * h.stays then window = DISTINCT_WINDOW end
    local age = p.time - time
    if age < window and age > -window then return true end
  end
  h.ops[slot], h.ids[slot], h.times[slot] = what, p.id, p.time
  if not known then
    if p.id ~= h.id then h.steps = h.steps + 1 else h.stays = h.stays + 1 end
    h.id = p.id
  end
  return false
end

-- Pairing.

local function pair(h, c)
  h.partner, c.partner = c, h
  for _, side in ipairs { h, c } do
    if side.mtus[2] == nil then set_mtus(h, side.mtus) end
  end
  if h.transport == "go-back-n" then h.transport = c.transport end
  c.transport = h.transport
  for _, side in ipairs { h, c } do
    local waiting = side.waiting
    side.waiting, side.suitors = nil, nil
    for _, p in ipairs(waiting or {}) do take_feedback(side, p) end
  end
  for _, side in ipairs { h, c } do
    local rivals = side.courted_by
    side.courted_by = {}
    for _, rival in ipairs(rivals) do
      if rival.partner == nil and rival.waiting and rival.suitors then
        local kept = {}
        for _, suitor in ipairs(rival.suitors) do
          if suitor[1].partner == nil then kept[#kept + 1] = suitor end
        end
        rival.suitors = kept
        if #kept == 1 then pair(rival, kept[1][1]) end
      end
    end
    quiet(side.req)
  end
end

-- suits reports whether the packet can be feedback on these requests.
local function suits(s, p)
  if not s.on then return false end
  if vouches(s, p) then return true end
  local seq = unwrap(s.top, p.psn)
  if s.tail and seq >= s.tail.seq and seq - s.tail.seq < most_of(s.tail) then return true end
  local response = p.form.verb == "read response"
  if response and p.form.service == "IRN" then return true end
  if response then return read_at(s, seq) ~= nil end
  if p.syndrome and floor(p.syndrome / 32) % 4 ~= 0 then
    return seq < s.top and (seq >= s.first or starts_before(s, seq, p))
  end
  if p.finished and p.finished ~= p.psn then seq = unwrap(s.top, p.finished) end
  return seq >= s.first - 1 and seq < s.top
end

local function wait(h, p)
  h.waiting = h.waiting or {}
  if #h.waiting == MAX_WAITING then table.remove(h.waiting, 1) end
  h.waiting[#h.waiting + 1] = keep(p)
end

local function best_suitor(h)
  local best, tie
  for _, suitor in ipairs(h.suitors or {}) do
    if suitor[1].partner == nil then
      if best == nil or suitor[2] > best[2] then
        best, tie = suitor, false
      elseif suitor[2] == best[2] then
        tie = true
      end
    end
  end
  return best and not tie and best[1] or nil
end

-- find_partner reports whether the half has a partner now that the packet, its
-- feedback, was seen. If it has not, the packet waits.
local function find_partner(h, p)
  if h.service == "UC" or h.service == "RD" then return false end
  if h.suitors == nil or #h.suitors == 0 then
    local near = between[h.dst .. h.src]
    local n = h.waiting and #h.waiting or 0
    h.tries = (h.tries or 0) + 1
    if near == nil or h.tries > 16 and h.tries % 64 ~= 0 then
      wait(h, p)
      return false
    end
    h.suitors = {}
    for i = 1, #near do
      local c = near[i]
      if c.partner == nil and c ~= h and c.service == h.service and suits(c.req, p) then
        h.suitors[#h.suitors + 1] = { c, 0 }
        c.courted_by[#c.courted_by + 1] = h
        if #h.suitors > MAX_SUITORS then break end
      end
    end
    if #h.suitors > MAX_SUITORS then
      h.suitors = nil
      wait(h, p)
      return false
    end
  end
  local kept = {}
  for _, suitor in ipairs(h.suitors) do
    local c = suitor[1]
    if c.partner == nil and suits(c.req, p) then
      for _, m in ipairs(c.req.asks_ack) do
        if m[1] % 0x1000000 == p.psn then
          suitor[2] = suitor[2] + 1
          break
        end
      end
      kept[#kept + 1] = suitor
    end
  end
  h.suitors = kept
  if #kept == 1 then
    pair(h, kept[1][1])
    return true
  elseif #kept == 0 then
    h.waiting = nil
    return false
  end
  if h.waiting and #h.waiting == MAX_WAITING then
    local best = best_suitor(h)
    if best then
      pair(h, best)
      return true
    end
  end
  wait(h, p)
  return false
end

-- pair_by_resend finds the partner of a half whose resend answers a NAK that
-- waits for its stream.
pair_by_resend = function(s, seq)
  local h = s.half
  if s.response or h.partner then return end
  local found
  for _, c in ipairs(h.courted_by) do
    if c.partner == nil and c.waiting then
      local courts = false
      for _, suitor in ipairs(c.suitors or {}) do courts = courts or suitor[1] == h end
      for _, p in ipairs(courts and c.waiting or {}) do
        if p.psn == seq % 0x1000000 and p.syndrome and floor(p.syndrome / 32) % 4 ~= 0 then
          if found and found ~= c then return end
          found = c
        end
      end
    end
  end
  if found then pair(found, h) end
end

-- READ responses and requests.

local function begin_among(s, req, p)
  local seq = unwrap(req.top, p.psn)
  if seq < req.first then return end
  for _, read in ipairs(req.reads) do
    if read[1] <= seq then return begin(s, p, read[1] % 0x1000000) end
  end
end

local function grow_tail(req, p)
  local tail = req.tail
  local seq = unwrap(req.top, p.psn)
  if seq < tail.seq or seq - tail.seq >= most_of(tail) or not p.form.ends then return end
  if tail.size then
    local list = fitting(req.half, tail.size, seq - tail.seq + 1)
    if list[1] then set_mtus(req.half, list) end
  end
  end_tail(req, seq + 1)
end

local function response(h, p)
  learn_mtu(h, p)
  local s = h.resp
  if s == nil then
    s = new_stream(h, true)
    h.resp = s
  end
  if h.transport == "irn" then return arrive(s, p, 1) end
  local req = requests_of(s)
  if req and not s.on then begin_among(s, req, p) end
  arrive(s, p, 1)
  if h.partner == nil then return end
  req = h.partner.req
  if req.tail then grow_tail(req, p) end
  acknowledged(req, p)
end

local function answered_past(s, read)
  local resp = responses_of(s)
  if not resp.on or s.half.transport == "irn" then return false end
  local stop = unwrap(resp.top, read[2] % 0x1000000) + 1
  return resp.next > stop or resp.next == stop and s.acked > read[2] + 1 and s.half.partner.feedback_time >= resp.last_time
end

local function timer_may_ask(s, seq, p)
  local silence = p.time - max(last_activity(s), responses_of(s).last_time)
  local timer = timer_of(s)
  return timer == 0 and s.rtt == 0 or too_late(s, silence) or timer > 0 and waited(s, seq, p.time, silence) >= timer * 3 / 4
end

-- read_again follows a READ request below the top. One inside an outstanding
-- READ names the first response that is missing; one at its start names nothing.
local function read_again(s, p, seq, n)
  local old, resp = read_at(s, seq), responses_of(s)
  local begun = trouble(s).run.id
  local named = old ~= nil and seq > old[1]
  s.implied = named
  if old then n = old[2] - seq + 1 end
  if old and not named and resp then
    s.implied = resp.d ~= nil and set_has(resp.d.holes, unwrap(resp.top, seq % 0x1000000))
      or answered_past(s, old) and not timer_may_ask(s, seq, p)
  end
  arrive(s, p, n)
  s.implied = false
  local d = s.d
  if resp and resp.on and d.run.id ~= begun then
    local rd, cause = trouble(resp), d.run.cause
    local at = unwrap(resp.top, p.psn)
    ask(rd, at, p.time, cause, p.frame)
    if named and at >= resp.first then name(resp, at, p, "implied-nak") end
    quiet(resp)
  end
end

-- answer_missed reports whether an atomic is sent again since its answer went
-- missing: something behind it was acknowledged meanwhile.
local function answer_missed(s, p)
  if not s.on or s.acked == 0 or not near(s, p.psn) then return false end
  local seq = unwrap(s.top, p.psn)
  if seq + 1 >= s.acked or seq < s.first then return false end
  trouble(s)
  return not too_late(s, p.time - last_activity(s))
end

local function read_request(h, p)
  local s = h.req
  local n = p.dmalen and read_length(h, p.dmalen)
  if h.transport == "irn" or p.form.verb ~= "read" then n = 1 end
  local known = n ~= nil
  n = n or 1
  if s.on and near(s, p.psn) then
    local seq = unwrap(s.top, p.psn)
    if seq < s.top then return read_again(s, p, seq, n) end
  end
  arrive(s, p, n)
  if s.moved then return end
  local last = s.top - 1
  if (last - n + 1) % 0x1000000 ~= p.psn then return end
  if #s.reads >= 256 then table.remove(s.reads, 1) end
  s.reads[#s.reads + 1] = { last - n + 1, last }
  if not known then
    s.tail = { seq = last, size = p.dmalen }
    s.expect = -1
  end
end

-- damage follows a packet with a bad ICRC: its receiver throws it away.
local function damage(h, p)
  local s = h.req
  if p.form.response then
    if p.form.verb ~= "read response" or h.resp == nil then return end
    s = h.resp
  end
  if not s.on or s.moved or not near(s, p.psn) then return end
  local d = trouble(s)
  local silence = p.time - last_activity(s)
  s.again, s.last_time = s.again + 1, p.time
  local seq = unwrap(s.top, p.psn)
  sent_up_to(s, p)
  if seq >= s.top then
    if seq > s.top or s.next < s.top then
      set_insert(d.spoilt, seq, seq)
      s.expect = -1
      return
    end
    refute(s)
    miss(s, seq, seq, "icrc", p.frame)
    name_lost(d, seq, seq)
    s.top, s.next = seq + 1, seq + 1
    return quiet(s)
  end
  refute(s)
  if seq < s.next and not set_has(d.holes, seq) then new_run(s, seq, p.frame, p.time, silence) end
  if seq > s.next then pass_over(s, s.next, seq - 1, p.frame) end
  tell_resend(s, p.frame, seq, d.run.cause)
  if seq >= s.acked and not set_has(d.holes, seq) then
    miss(s, seq, seq, "icrc", p.frame)
    name_lost(d, seq, seq)
  end
  s.next = max(s.next, seq + 1)
  quiet(s)
end

local function renew(h, p)
  local s, start = h.req, p.psn
  if s.on then
    s.moved = nil
    end_epoch(s)
  end
  local ahead = less(p.psn, h.start)
  if ahead >= 0 and ahead < 1024 then start = h.start end
  begin(s, p, start)
  h.renew, h.agreed = false, false
end

local function request(h, p)
  if h.agreed and (h.renew or not h.req.on) then renew(h, p) end
  local verb = p.form.verb
  if verb == "read" or verb == "flush" or verb == "atomic write" then return read_request(h, p) end
  h.req.implied = verb == "atomic" and answer_missed(h.req, p)
  arrive(h.req, p, 1)
  h.req.implied = false
  learn_mtu(h, p)
end

-- take_feedback brings feedback, or a READ response, to the stream it is about.
take_feedback = function(h, p)
  if p.form.verb == "read response" then response(h, p) else acknowledged(h.partner.req, p) end
end

-- take follows one packet of a half.
function take(h, p)
  local verb = p.form.verb
  if h.service == "RD" then
    return
  elseif p.damaged then
    damage(h, p)
  elseif not p.form.response then
    request(h, p)
  elseif verb == "read response" then
    if h.partner or find_partner(h, p) then response(h, p) end
  elseif p.op == 0xf8 or p.op == 0xf9 then
    if h.partner and h.partner.resp then acknowledged(h.partner.resp, p) end
  else
    h.feedback_time = p.time
    if p.syndrome and verb == "ack" then
      local kind = floor(p.syndrome / 32) % 4
      if kind == 0 then h.acks = h.acks + 1 elseif kind == 1 then h.rnr = h.rnr + 1 elseif kind == 3 then h.naks = h.naks + 1 end
    end
    if h.partner or find_partner(h, p) then acknowledged(h.partner.req, p) end
  end
end

-- Connection management: who talks to whom, and where their PSNs begin.

meet = function(h)
  local g = agreed[h.src .. h.dst .. h.qp]
  if g == nil then return end
  h.timer, h.agreed, h.start = g.timer, true, g.start
  if g.mtu then set_mtus(h, { g.mtu }) end
  local by_qp = halves[g.src .. g.dst]
  local other = by_qp and by_qp[g.qp]
  if other == nil or other == h.partner then return end
  for _, side in ipairs { h, other } do
    if side.partner then side.partner.partner, side.partner = nil, nil end
  end
  pair(h, other)
end

-- manage reads a message of connection management in a UD packet to QP 1. o is
-- where the message begins.
function manage(s, o, stop)
  if stop - o < 24 or byte(s, o + 2) ~= 7 then return end
  local kind = u16(s, o + 16)
  o = o + 24
  if remembered > 16384 then
    agreed, requests, remembered = {}, {}, 0
  end
  if kind == 0x10 and stop - o >= 140 then
    remembered = remembered + 1
    local timeout = floor(byte(s, o + 96) / 8)
    requests[at.src .. u32(s, o)] = {
      dst = at.dst, id = u32(s, o), qp = u24(s, o + 32), start = u24(s, o + 44),
      mtu = MTUS[floor(byte(s, o + 51) / 16)], timer = timeout > 0 and 4096 * 2 ^ timeout or 0
    }
  elseif kind == 0x13 and stop - o >= 36 then
    local r = requests[at.dst .. u32(s, o + 4)]
    if r == nil or r.dst ~= at.src then return end
    local qp, start, id = u24(s, o + 12), u24(s, o + 20), u32(s, o)
    local active, passive = at.dst .. at.src .. qp, at.src .. at.dst .. r.qp
    local old = agreed[active]
    if old and old.ids == r.id .. "/" .. id and old.qp == r.qp then return end -- the REP came again
    remembered = remembered + 2
    local ids = r.id .. "/" .. id
    agreed[active] = { src = at.src, dst = at.dst, qp = r.qp, start = r.start, mtu = r.mtu, timer = r.timer, ids = ids }
    agreed[passive] = { src = at.dst, dst = at.src, qp = qp, start = start, mtu = r.mtu, timer = r.timer, ids = ids }
    for _, way in ipairs { { at.dst .. at.src, qp }, { at.src .. at.dst, r.qp } } do
      local h = halves[way[1]] and halves[way[1]][way[2]]
      if h then
        h.renew = true
        h.req.expect = -1
        meet(h)
      end
    end
  end
end

end

-- forget drops everything: another capture begins, or the same one anew.
local function forget()
  halves, between, all, agreed, requests, remembered = {}, {}, {}, {}, {}, 0
  marks, acked_by, acks_of, rtts = {}, {}, {}, {}
end
