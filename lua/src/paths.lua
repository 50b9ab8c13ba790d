-- The virtual paths of MP-RDMA: UDP source ports. A path keeps the order, and the
-- receiver answers each packet on the packet's own path.

local first_path, travelled, slowest_path, path_trip, answer

do

local MAX_PATHS = 256      -- that a stream is parted by
local MAX_UNANSWERED = 512 -- packets in flight that are remembered

-- push adds a packet to those that were not answered yet, in the order in which
-- they passed. The oldest goes when there are too many.
local function push(u, seq, sport)
  u.newest = u.newest + 1
  u[u.newest] = { seq = seq, sport = sport }
  if u.newest - u.oldest >= MAX_UNANSWERED then
    u[u.oldest] = nil
    u.oldest = u.oldest + 1
  end
end

-- answer takes out the first packet of a path that is one of from to last, and
-- those of the path before it, whose answers were lost or never given.
function answer(s, sport, from, last)
  local u = s.unanswered
  for i = u.oldest, u.newest do
    local one = u[i]
    if not one.done and one.sport == sport and one.seq >= from and one.seq <= last then
      for k = u.oldest, i do
        if u[k].sport == sport then u[k].done = true end
      end
      while u.oldest <= u.newest and u[u.oldest].done do
        u[u.oldest] = nil
        u.oldest = u.oldest + 1
      end
      return one.seq
    end
  end
end

-- first_path begins to tell paths apart: all packets so far took one, of which
-- the last is timed.
function first_path(s, last)
  s.paths = { [s.sport] = s.n > 0 and { probe = last, sent = s.last_time } or {} }
  s.n_paths = 1
end

local function path(s, sport)
  local one = s.paths[sport]
  if one == nil and s.n_paths < MAX_PATHS then
    one = {}
    s.paths[sport], s.n_paths = one, s.n_paths + 1
  end
  return one
end

-- travelled notes a packet on its path.
function travelled(s, p, seq)
  if s.paths == nil then
    if s.sport == p.sport then return end
    first_path(s, seq - 1)
    for before = max(s.first, seq - 64), seq - 1 do push(s.unanswered, before, s.sport) end
  end
  push(s.unanswered, seq, p.sport)
  local one = path(s, p.sport)
  if one == nil then return end
  if not p.retx then
    if one.sent == nil then one.probe, one.sent = seq, p.time end
    return
  end
  for _, other in pairs(s.paths) do
    if other.probe == seq then other.sent = nil end -- only what was sent once tells the time
  end
end

-- path_trip takes a round trip from the acknowledgement of a packet, if it is the
-- one that times its path.
function path_trip(s, seq, p)
  local one = path(s, p.sport)
  if one == nil or one.sent == nil or one.probe ~= seq then return end
  local span = p.time - one.sent
  if span > 0 and not p.echoes_retx then
    if one.rtt == nil or span < one.rtt then one.rtt = span end
    if s.rtt == 0 or span < s.rtt then s.rtt = span end
    rtts[p.frame] = span
  end
  one.sent = nil
end

-- slowest_path is the longest of the round trips of the paths.
function slowest_path(s)
  local rtt = 0
  for _, one in pairs(s.paths or {}) do rtt = max(rtt, one.rtt or 0) end
  return rtt
end

end
