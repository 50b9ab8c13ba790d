-- One PSN space of one half: its requests, or the READ responses that it
-- carries. The model is that of rdmadump loss: a sender puts runs on the wire.
-- The first run is new data; a NAK or a timer starts another, which repeats from
-- somewhere below the top and goes on into new data. A packet above the current
-- run passes over PSNs, which are then missing; one below it is late, or begins
-- a run. PSNs are unwrapped: they grow beyond 24 bits.

local FORWARD_REACH, FORWARD_STEP = 65536, 1024 -- the largest gap believed, and believed at once
local BACKWARD_REACH, COHERENT = 256, 64
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
    paths = nil,    -- by source port, once there is more than one or MP-RDMA is known
    unanswered = { oldest = 1, newest = 0 }, -- of these
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
      skipped = {}, tardy = {}, spoilt = {}, has = {}, lost_psns = {}, missed = {}, done = {},
      run = { id = 0, first = 0, before = 0, began = 0 },
      points = {}, recent = {}, asks = {}, answers = {}, repairs = {}, timer = 0, tail_from = 0, tail_to = 0,
      turned = {}, books = {}, n_books = 0, slots = 0 -- see turned_away
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
  if s.next ~= s.top or s.moved or s.paths and not s.heard or s.tail or h.transport ~= "go-back-n" and not s.response or h.renew or
    d and (d.trial or d.broken or d.rnr or #d.answers > 0 or d.holes[1] or d.refused[1]) then
    s.expect = -1
  else
    s.expect = s.top % 0x1000000
  end
end

local function begin(s, p, psn)
  s.epochs = s.epochs + 1
  if not s.on then s.sport = p.sport end
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
  if not s.response then travelled(s, p, seq) end
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
