-- Gaps. g.first and g.last are what was missing when it opened, or what is left
-- of that once late packets were taken out.

local gap_at, miss, cut, fill, lose, name_lost

do

local MAX_GAPS = 1024 -- open at a time, in one stream
local MAX_AGAIN = 16  -- up to how many lost copies are told apart by PSN

function gap_at(d, q)
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

-- lose notes PSNs of which the network lost a copy.
function lose(d, parts)
  for _, part in ipairs(parts) do set_insert(d.lost_psns, part[1], part[2]) end
end

-- name_lost notes that feedback named first..last, whose copies are thereby lost.
function name_lost(d, first, last)
  lose(d, set_without(d.named, first, last))
  set_insert(d.named, first, last)
end

-- miss_again notes that copies of PSNs in a gap were lost that stands already.
-- g.again[1] is the PSNs of which a second copy was lost, then those of a third.
local function miss_again(g, first, last)
  g.again = g.again or {}
  local parts = { { first, last } }
  for k = 1, MAX_AGAIN do
    if parts[1] == nil then return end
    local set, more = g.again[k] or {}, {}
    g.again[k] = set
    for _, part in ipairs(parts) do
      for _, twice in ipairs(set_within(set, part[1], part[2])) do more[#more + 1] = twice end
      set_insert(set, part[1], part[2])
    end
    parts = more
  end
end

-- miss marks first..last as missing: a gap of its own where none is, one copy
-- more where a gap stands open or was filled.
function miss(s, first, last, kind, frame, suspect)
  local d = trouble(s)
  while first <= last do
    local i, inside = gap_at(d, first)
    local part = last
    if inside then
      local g = d.gaps[i]
      part = begins(d.holes, first, min(part, g.last))
      g.suspect = g.suspect and suspect
      if g.run ~= d.run.id or first > g.up_to or not set_has(d.holes, first) then
        if not suspect then
          miss_again(g, first, part)
          local holes = set_within(d.holes, first, part)
          lose(d, holes)
          for _, again in ipairs(holes) do set_insert(d.again, again[1], again[2]) end
          local m = mark(frame)
          m.again = m.again or {}
          m.again[#m.again + 1] = { first, part }
        end
        g.up_to = part
      end
      g.run, g.closed = d.run.id, nil
      set_insert(d.holes, first, part)
    else
      if d.gaps[i] then part = min(part, d.gaps[i].first - 1) end
      local g = { first = first, last = part, kind = kind, frame = frame, run = d.run.id, up_to = part, suspect = suspect }
      table.insert(d.gaps, i, g)
      set_insert(d.holes, first, part)
      tell_gap(s, g)
      if #d.gaps > MAX_GAPS then table.remove(d.gaps, 1) end
    end
    first = part + 1
  end
end

-- piece is a part of a gap as a gap of its own.
local function piece(g, first, last)
  local part = {}
  for k, v in pairs(g) do part[k] = v end
  part.first, part.last, part.again = first, last, nil
  for k, set in ipairs(g.again or {}) do
    local within = set_within(set, first, last)
    if within[1] == nil then break end
    part.again = part.again or {}
    part.again[k] = within
  end
  return part
end

-- cut puts parts of a gap in its place, in a list of gaps. It returns them.
function cut(s, gaps, i, parts)
  local g, rest = gaps[i], {}
  for _, part in ipairs(parts) do
    if part[1] <= part[2] then rest[#rest + 1] = piece(g, part[1], part[2]) end
  end
  table.remove(gaps, i)
  s.gaps, s.missing = s.gaps - 1, s.missing - (g.last - g.first + 1)
  unmark_gap(g)
  for k, part in ipairs(rest) do
    table.insert(gaps, i + k - 1, part)
    tell_gap(s, part)
  end
  return rest
end

-- fill puts a copy that was sent again into its place. A READ request fills all
-- the PSNs that it takes, and was lost once.
function fill(s, first, last, p, read)
  local d = s.d
  for k, part in ipairs(set_within(d.holes, first, last)) do
    lose(d, set_without(d.named, part[1], read and part[1] or part[2]))
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

end
