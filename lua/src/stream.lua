-- One PSN space of one half: its requests, or the READ responses that it
-- carries. The model is that of rdmadump loss: a sender puts runs on the wire.
-- The first run is new data; a NAK or a timer starts another, which repeats from
-- somewhere below the top and goes on into new data. A packet above the current
-- run passes over PSNs, which are then missing; one below it is late, or begins
-- a run. PSNs are unwrapped: they grow beyond 24 bits.

local FORWARD_REACH, FORWARD_STEP = 65536, 1024 -- the largest gap believed, and believed at once
local BACKWARD_REACH, COHERENT = 256, 64
local MAX_GAPS = 1024      -- open at a time, in one stream
local MAX_STRAGGLERS = 4   -- of an older run, in the way of a later one
local SHORTEST_TIMER = 1e5 -- ns; a shorter silence is only the pace of the packets
local SLOWEST_ANSWER = 256 -- round trips between a NAK and what answers it

local function new_stream(half, response)
  return {
    half = half, response = response,
    on = false,     -- the first packet was seen
    top = 0,        -- one past the highest PSN taken
    next = 0,       -- what continues the current run; top unless a resend is under way
    acked = 0,      -- one past the highest PSN acknowledged
    heard = false,  -- acked rests on an acknowledgement
    expect = -1,    -- the PSN that needs no look at all; -1 while everything does
    first = 0, epochs = 0, peak = 0, last_time = 0,
    again = 0, gaps = 0, missing = 0, resent = 0, late = 0, naks = 0, -- for the summary
    -- The packets of new data, in order: PSN, frame of the last copy, time and IP
    -- identification. head is the first one that is not acknowledged.
    seqs = {}, frames = {}, times = {}, ids = {}, n = 0, head = 1,
    asks_ack = {}, asked = 0, -- the last packets that asked for an acknowledgement
    rtt = 0,        -- the smallest round trip
    open = false,   -- a message has begun and not ended
    reads = {},     -- PSNs that READ requests took, as spans
    tail = nil,     -- the newest READ while its length is not known
    moved = nil,    -- a packet far from the window
    d = nil         -- what only trouble needs
  }
end

local function trouble(s)
  local d = s.d
  if d == nil then
    d = {
      gaps = {}, holes = {}, unseen = {}, named = {}, again = {}, refused = {}, refused_before = {},
      skipped = {}, tardy = {}, spoilt = {}, has = {},
      run = { id = 0, first = 0, before = 0, began = 0 },
      points = {}, recent = {}, asks = {}, answers = {}, repairs = {}, timer = 0, tail_from = 0, tail_to = 0
    }
    s.d = d
  end
  return d
end

-- reached notes that an acknowledgement went up to q; the last ones are kept.
local function reached(d, q)
  local recent = d.recent
  if recent[#recent] == q then return end
  recent[#recent + 1], d.points[q] = q, true
  if #recent > 32 then d.points[table.remove(recent, 1)] = nil end
end

local function unwrap(ref, psn)
  local d = (psn - ref) % 0x1000000
  if d >= 0x800000 then d = d - 0x1000000 end
  return ref + d
end

local function selects(s) return s.half.transport ~= "go-back-n" or s.d ~= nil and s.d.selective end

-- quiet returns to the short way once nothing is left to watch.
local function quiet(s)
  local d, h = s.d, s.half
  if s.next ~= s.top or s.moved or s.tail or h.transport ~= "go-back-n" and not s.response or h.renew or
    d and (d.trial or d.broken or d.rnr or #d.answers > 0 or d.holes[1] or d.refused[1]) then
    s.expect = -1
  else
    s.expect = s.top % 0x1000000
  end
end

local function begin(s, p, psn)
  s.epochs = s.epochs + 1
  s.first = s.epochs * 0x100000000 + psn -- epochs share no number
  s.top, s.next, s.acked = s.first, s.first, s.first
  s.heard, s.on, s.expect = false, true, -1
  s.asks_ack, s.asked, s.tail, s.reads, s.open = {}, 0, nil, {}, false
  s.last_time = p.time
  s.head = s.n + 1
end

-- advance takes a packet that continues new data.
local function advance(s, p, n)
  local seq = s.top
  s.top = seq + n
  s.next = s.top
  s.last_time = p.time
  local k = s.n + 1
  s.n, s.seqs[k], s.frames[k], s.times[k], s.ids[k] = k, seq, p.frame, p.time, p.id
  s.open = not p.form.ends
  if p.ackreq then
    s.asks_ack[s.asked % 8 + 1] = { seq, p.time, true, p.frame }
    s.asked = s.asked + 1
  end
end

-- carried is the frame that carried a PSN last, and its place in the order of
-- new data; nil where none did. Every packet takes a PSN at least, so that it
-- stands where it would without gaps, or a few places behind that.
local function carried(s, seq)
  local seqs, n = s.seqs, s.n
  local low, high = max(1, n - (s.top - seq) + 1), n + 1
  if low > n then return nil end
  if seqs[low] == seq then return s.frames[low], low end
  while low < high do
    local mid = floor((low + high) / 2)
    if seqs[mid] < seq then low = mid + 1 else high = mid end
  end
  if seqs[low] == seq then return s.frames[low], low end
end

-- Gaps. g.first and g.last are what was missing when it opened, or what is left
-- of that once late packets were taken out.

local function gap_at(d, q)
  local gaps, low, high = d.gaps, 1, #d.gaps + 1
  while low < high do
    local mid = floor((low + high) / 2)
    if gaps[mid].last < q then low = mid + 1 else high = mid end
  end
  return low, gaps[low] ~= nil and gaps[low].first <= q
end

local function tell_gap(s, g)
  mark_gap(g)
  s.gaps = s.gaps + 1
  s.missing = s.missing + g.last - g.first + 1
end

-- miss marks first..last as missing: a gap of its own where none is.
local function miss(s, first, last, kind, frame, suspect)
  local d = trouble(s)
  while first <= last do
    local i, inside = gap_at(d, first)
    local part = last
    if inside then
      local g = d.gaps[i]
      part = min(part, g.last)
      if g.run ~= d.run.id and not suspect then
        for _, again in ipairs(set_within(d.holes, first, part)) do set_insert(d.again, again[1], again[2]) end
        local m = mark(frame)
        m.again = m.again or {}
        m.again[#m.again + 1] = { first, part }
      end
      g.run, g.closed = d.run.id, nil
      set_insert(d.holes, first, part)
    else
      if d.gaps[i] then part = min(part, d.gaps[i].first - 1) end
      local g = { first = first, last = part, kind = kind, frame = frame, run = d.run.id, suspect = suspect }
      table.insert(d.gaps, i, g)
      set_insert(d.holes, first, part)
      tell_gap(s, g)
      if #d.gaps > MAX_GAPS then table.remove(d.gaps, 1) end
    end
    first = part + 1
  end
end

-- cut takes a part out of a gap and leaves what stands on either side.
local function cut(s, i, first, last)
  local d = s.d
  local g = d.gaps[i]
  local rest = {}
  for _, side in ipairs { { g.first, first - 1 }, { last + 1, g.last } } do
    if side[1] <= side[2] then
      local half = {}
      for k, v in pairs(g) do half[k] = v end
      half.first, half.last = side[1], side[2]
      rest[#rest + 1] = half
    end
  end
  table.remove(d.gaps, i)
  s.gaps, s.missing = s.gaps - 1, s.missing - (g.last - g.first + 1)
  unmark_gap(g)
  for k, half in ipairs(rest) do
    table.insert(d.gaps, i + k - 1, half)
    tell_gap(s, half)
  end
end

-- was_late takes first..last out of its gaps: it was late, not lost.
local function was_late(s, first, last)
  local d = s.d
  set_remove(d.holes, first, last)
  set_remove(d.unseen, first, last)
  set_remove(d.named, first, last)
  while first <= last do
    local i, inside = gap_at(d, first)
    if not inside then return end
    local part = min(last, d.gaps[i].last)
    cut(s, i, first, part)
    first = part + 1
  end
end

-- fill puts a copy that was sent again into its place. A READ request fills all
-- the PSNs that it takes, and was lost once.
local function fill(s, first, last, p, read)
  local d = s.d
  for k, part in ipairs(set_within(d.holes, first, last)) do
    set_remove(d.holes, part[1], part[2])
    set_remove(d.unseen, part[1], part[2])
    set_remove(d.named, part[1], part[2])
    set_remove(d.again, part[1], part[2])
    local i, inside = gap_at(d, part[1])
    if inside then
      local g = d.gaps[i]
      g.suspect = nil
      if read and part[2] > part[1] and part[1] >= g.first and part[2] == g.last and k == 1 then
        s.missing = s.missing - (g.last - part[1])
        g.last = part[1]
      end
      if set_overlap(d.holes, g.first, g.last) == 0 then
        g.closed, g.closed_frame = "retransmitted", p.frame
      end
    end
  end
end

-- retire takes leave of what lies before q, which was acknowledged.
local function retire(s, q)
  local d = s.d
  while d.gaps[1] and d.gaps[1].last < q do
    local g = table.remove(d.gaps, 1)
    local left = set_overlap(d.holes, g.first, g.last)
    if left > 0 and g.suspect and set_overlap(d.unseen, g.first, g.last) == 0 then
      d.selective = true -- nobody missed what the run left out: it was not sent
      s.gaps, s.missing = s.gaps - 1, s.missing - (g.last - g.first + 1)
      unmark_gap(g)
    elseif left > 0 then
      g.closed = set_overlap(d.unseen, g.first, g.last) > 0 and "not captured" or "retransmitted"
    end
  end
  local below = q - 0x10000000000
  set_remove(d.refused, below, q - 1)
  set_remove(d.tardy, below, q - 1)
  if d.gaps[1] then q = min(q, d.gaps[1].first) end
  set_remove(d.holes, below, q - 1)
  set_remove(d.unseen, below, q - 1)
  set_remove(d.named, below, q - 1)
  set_remove(d.again, below, q - 1)
end

-- READs. A request takes as many PSNs as its response has packets, which depends
-- on the path MTU: that of connection management, of First and Middle packets,
-- or one that makes the next request fit. A half keeps the set of those possible.

local MTUS = { 256, 512, 1024, 2048, 4096 }

local function packets_of(size, mtu) return max(1, floor((size + mtu - 1) / mtu)) end

-- read_length is the PSNs that a READ takes where all MTUs left agree.
local function read_length(h, size)
  local n
  for _, mtu in ipairs(h.mtus) do
    local k = packets_of(size, mtu)
    if n and n ~= k then return nil end
    n = k
  end
  return n
end

local function set_mtus(h, list)
  for _, side in ipairs { h, h.partner } do
    side.mtus = list
    side.mtu = list[2] == nil and list[1] or nil -- the one that is left
  end
end

local function fitting(h, size, k)
  local list = {}
  for _, mtu in ipairs(h.mtus) do
    if packets_of(size, mtu) == k then list[#list + 1] = mtu end
  end
  return list
end

local function most_of(tail)
  if tail.size == nil then return FORWARD_REACH end
  return min(packets_of(tail.size, 256), 0x400000)
end

-- end_tail ends the newest READ before q.
local function end_tail(s, q)
  local tail = s.tail
  s.tail = nil
  if q > tail.seq then
    local read = s.reads[#s.reads]
    if read and read[1] == tail.seq then read[2] = q - 1 end
    if s.next == s.top then s.next = max(s.top, q) end
    s.top = max(s.top, q)
  end
  quiet(s)
end

-- settle_tail decides how long the newest READ is from where the next request
-- begins.
local function settle_tail(s, q)
  local tail = s.tail
  if tail == nil then return end
  local k = q - tail.seq
  if tail.size == nil then return end_tail(s, q) end
  local list = fitting(s.half, tail.size, k)
  if list[1] then
    set_mtus(s.half, list)
    return end_tail(s, q)
  end
  local widest = s.half.mtus[#s.half.mtus]
  end_tail(s, tail.seq + min(packets_of(tail.size, widest), k))
end

local function settle_tails(h)
  for _, side in ipairs { h, h.partner } do
    local tail = side.req.tail
    if tail and tail.size then
      local n = read_length(side, tail.size)
      if n then end_tail(side.req, tail.seq + n) end
    end
  end
end

-- learn_mtu takes the path MTU from the payload of a First or Middle packet.
local function learn_mtu(h, p)
  if p.form.ends or h.mtu == p.payload then return end
  for _, mtu in ipairs(MTUS) do
    if mtu == p.payload then
      set_mtus(h, { mtu })
      settle_tails(h)
    end
  end
end

local function read_at(s, seq)
  for i = #s.reads, 1, -1 do
    local read = s.reads[i]
    if read[1] <= seq and seq <= read[2] then return read end
  end
end

local function requests_of(s)
  local partner = s.half.partner
  return partner and partner.req.on and partner.req or nil
end

local function responses_of(s)
  local partner = s.half.partner
  return partner and partner.resp or nil
end

-- sent is the parts below the top that packets begin in: all, but for the inside
-- of READs. Responses follow from each other within one READ only.
local function sent(s, first, last)
  local parts = {}
  if first > last then return parts end
  if s.response then
    local req = requests_of(s)
    local read = req and read_at(req, unwrap(req.top, (last + 1) % 0x1000000))
    if read then
      first = max(first, unwrap(s.top, read[1] % 0x1000000))
      if first <= last then parts[1] = { first, last } end
    end
    return parts
  end
  for _, read in ipairs(s.reads) do
    local from, to = max(read[1] + 1, first), min(read[2], last)
    if from <= to then
      if first < from then parts[#parts + 1] = { first, from - 1 } end
      first = to + 1
    end
  end
  if first <= last then parts[#parts + 1] = { first, last } end
  return parts
end

-- expected is the parts above the top that packets must come in: all of it for
-- requests, for responses what READs asked for.
local function expected(s, first, last)
  if first > last then return {} end
  if not s.response or s.half.transport == "irn" then return { { first, last } } end
  local req = requests_of(s)
  if req == nil then return s.open and { { first, last } } or {} end
  local parts = {}
  for _, read in ipairs(req.reads) do
    local from = unwrap(first, read[1] % 0x1000000)
    local a, b = max(first, from), min(last, from + read[2] - read[1])
    if a <= b then parts[#parts + 1] = { a, b } end
  end
  return parts
end

-- pass_over marks what a run should have carried and did not. suspect says that
-- it may not have been sent at all.
local function pass_over(s, first, last, frame, suspect)
  if first > last then return end
  local d = trouble(s)
  for _, part in ipairs(sent(s, first, min(last, s.top - 1))) do
    local from, to = part[1], part[2]
    if from < s.acked then
      local known = min(to, s.acked - 1)
      if not suspect and not selects(s) then set_insert(d.skipped, from, known) end
      from = known + 1
    end
    if not selects(s) then
      miss(s, from, to, "observed", frame, suspect)
    else
      for _, hole in ipairs(set_within(d.holes, from, to)) do miss(s, hole[1], hole[2], "observed", frame, suspect) end
    end
  end
  for _, part in ipairs(expected(s, max(first, s.top), last)) do
    set_insert(d.unseen, part[1], part[2])
    for _, bad in ipairs(set_within(d.spoilt, part[1], part[2])) do
      set_remove(d.unseen, bad[1], bad[2])
      miss(s, bad[1], bad[2], "icrc", frame)
    end
    for _, clean in ipairs(set_without(d.spoilt, part[1], part[2])) do miss(s, clean[1], clean[2], "observed", frame) end
  end
  set_remove(d.spoilt, first, last + 1)
  if s.heard and s.acked > first then retire(s, s.acked) end
end

-- floor_of is the PSN that the receiver waits for, as far as a hole shows it.
local function floor_of(s)
  local d, low, acked = s.d, math.huge, s.acked
  local span = d.holes[1] and d.holes[span_from(d.holes, acked)]
  if span then low = max(span[1], acked) end
  span = d.refused[1] and d.refused[span_from(d.refused, acked)]
  if span then low = min(low, max(span[1], acked)) end
  if d.rnr and d.rnr < low then low = d.rnr end
  return low
end

-- accept notes whether the receiver can have taken the copy that just passed:
-- under go-back-N it refuses what comes behind a hole.
local function accept(s, first, last)
  local d = s.d
  if d == nil or selects(s) or s.response then return end
  if floor_of(s) < first then set_insert(d.refused, first, last) else set_remove(d.refused, first, last) end
end
