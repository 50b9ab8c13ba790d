-- What a run passes over, and what the receiver refuses behind it.

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
      name_lost(d, bad[1], bad[2])
    end
    for _, clean in ipairs(set_without(d.spoilt, part[1], part[2])) do miss(s, clean[1], clean[2], "observed", frame) end
  end
  set_remove(d.spoilt, first, last + 1)
  if s.heard and s.acked > first then retire(s, s.acked) end
end

local accept

do

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
function accept(s, first, last)
  local d = s.d
  if d == nil or selects(s) or s.response then return end
  if floor_of(s) < first then set_insert(d.refused, first, last) else set_remove(d.refused, first, last) end
end

end
