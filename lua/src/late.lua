-- What was taken for lost and was late.

local late, was_late, arrived_after_all, came_behind

do

local RECALL_REACH = 4096 -- how many of the newest gap records may be taken back
local REPLACED_REACH = 128 -- and how many are searched for a copy that came after its resend

-- sides is what stands on either side of a part of a gap.
local function sides(g, first, last) return { { g.first, first - 1 }, { last + 1, g.last } } end

-- take_back says that the newest copies of first..last, taken for lost, came
-- after all.
local function take_back(g, first, last)
  local again = g.again
  for k = #again, 1, -1 do
    if set_remove(again[k], first, last) > 0 then break end
  end
  while again[1] and again[#again][1] == nil do again[#again] = nil end
end

-- late_of takes a part of the i-th gap for late.
local function late_of(s, i, first, last)
  local d = s.d
  local n = set_remove(d.named, first, last)
  for _, set in ipairs(d.gaps[i].again or {}) do n = n + set_remove(set, first, last) end
  if n > 0 then set_remove(d.lost_psns, first, last) end
  set_remove(d.again, first, last)
  set_remove(d.holes, first, last)
  set_remove(d.unseen, first, last)
  cut(s, d.gaps, i, sides(d.gaps[i], first, last))
end

-- late_again takes a copy that came late for one of several that a gap lost.
local function late_again(s, g, first, last, frame)
  local d = s.d
  if g.again then take_back(g, first, last) end
  for _, set in ipairs { d.again, d.named, d.unseen, d.holes } do set_remove(set, first, last) end
  if set_overlap(d.holes, g.first, g.last) == 0 then g.closed, g.closed_frame = "retransmitted", frame end
end

-- late takes holes out of their gaps: what came was late, not lost. Where an
-- earlier copy was lost too the gap stands, and lost one copy less.
function late(s, first, last, frame)
  local d = s.d
  while first <= last do
    local i, inside = gap_at(d, first)
    if not inside then return end
    local g = d.gaps[i]
    local again = g.again and g.again[1] or {}
    local part = begins(d.named, first, begins(again, first, begins(d.lost_psns, first, min(last, g.last))))
    if set_has(again, first) or set_has(d.lost_psns, first) and not set_has(d.named, first) then
      late_again(s, g, first, part, frame)
    else
      late_of(s, i, first, part)
    end
    first = part + 1
  end
end

-- recall takes first..last out of gaps that are over already and closed like that.
local function recall(s, first, last, closed)
  local done = s.d.done
  for i = #done, max(1, #done - RECALL_REACH + 1), -1 do
    local g = done[i]
    local from, to = max(first, g.first), min(last, g.last)
    if from <= to and g.closed == closed then cut(s, done, i, sides(g, from, to)) end
  end
end

-- recall_copy takes back one of several copies that a gap lost which is over.
local function recall_copy(d, first, last)
  for i = #d.done, max(1, #d.done - RECALL_REACH + 1), -1 do
    local g = d.done[i]
    if g.closed == "retransmitted" and g.again and g.again[1] and set_has(g.again[1], first) then
      take_back(g, first, last)
      return true
    end
  end
  return false
end

-- was_late takes back that copies of first..last were lost.
function was_late(s, first, last)
  local d = s.d
  while first <= last do
    local part, i, inside = last, gap_at(d, first)
    local g = d.gaps[i]
    if not inside then
      if g then part = min(part, g.first - 1) end
      if not recall_copy(d, first, part) then
        set_remove(d.lost_psns, first, part)
        recall(s, first, part, "retransmitted")
      end
    else
      local again = g.again and g.again[1] or {}
      part = begins(again, first, min(part, g.last))
      if set_has(again, first) then
        take_back(g, first, part)
      else
        set_remove(d.lost_psns, first, part)
        late_of(s, i, first, part)
      end
    end
    first = part + 1
  end
end

-- arrived_after_all takes back that the capture missed first..last: it was only
-- late, even behind its acknowledgement.
function arrived_after_all(s, first, last)
  local d = s.d
  for _, part in ipairs(set_within(d.missed, first, last)) do recall(s, part[1], part[2], "not captured") end
  set_remove(d.missed, first, last)
end

-- came_behind takes back that a copy of q was lost, where a later one came before
-- it. It reports whether there is a gap that says so.
function came_behind(s, q)
  local d, others = s.d, 0
  local found, list, index
  local see = function(gaps, i)
    local g = gaps[i]
    if g.first > q or g.last < q then
      return
    elseif g.closed == "retransmitted" and g.kind == "observed" and found == nil then
      found, list, index = g, gaps, i
    else
      others = others + 1
    end
  end
  local i, inside = gap_at(d, q)
  if inside then see(d.gaps, i) end
  for k = #d.done, max(1, #d.done - REPLACED_REACH + 1), -1 do see(d.done, k) end
  if found == nil then return false end
  if found.again and found.again[1] and set_has(found.again[1], q) then
    take_back(found, q, q)
    return true
  end
  if others == 0 then set_remove(d.lost_psns, q, q) end
  if list == d.gaps then late_of(s, index, q, q) else cut(s, list, index, sides(found, q, q)) end
  return true
end

end
