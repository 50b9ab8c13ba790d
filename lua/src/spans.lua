-- Sets of whole numbers as sorted, disjoint spans { first, last }. They hold
-- what trouble leaves behind: a stream without loss has none.

local MAX_SPANS = 1024 -- the lowest span goes when there are more

-- span_from is the index of the first span that does not end before q.
local function span_from(set, q)
  local low, high = 1, #set + 1
  while low < high do
    local mid = floor((low + high) / 2)
    if set[mid][2] < q then low = mid + 1 else high = mid end
  end
  return low
end

local function set_has(set, q)
  if set[1] == nil then return false end
  local span = set[span_from(set, q)]
  return span ~= nil and span[1] <= q
end

local function set_insert(set, first, last)
  if first > last then return end
  local newest = set[#set]
  if newest and first >= newest[1] and first <= newest[2] + 1 then -- nearly always
    if last > newest[2] then newest[2] = last end
    return
  end
  local i = span_from(set, first - 1)
  local span = set[i]
  if span == nil or span[1] > last + 1 then
    table.insert(set, i, { first, last })
    if #set > MAX_SPANS then table.remove(set, 1) end
    return
  end
  if first < span[1] then span[1] = first end
  if last > span[2] then span[2] = last end
  local after = set[i + 1]
  while after and after[1] <= span[2] + 1 do
    if after[2] > span[2] then span[2] = after[2] end
    table.remove(set, i + 1)
    after = set[i + 1]
  end
end

-- set_remove returns how many numbers it took out.
local function set_remove(set, first, last)
  if set[1] == nil or set[1][1] > last then return 0 end
  local n, i = 0, span_from(set, first)
  local span = set[i]
  while span and span[1] <= last do
    local from, to = max(first, span[1]), min(last, span[2])
    n = n + to - from + 1
    if span[1] < from and span[2] > to then
      table.insert(set, i + 1, { to + 1, span[2] })
      span[2] = from - 1
      return n
    elseif span[1] < from then
      span[2] = from - 1
      i = i + 1
    elseif span[2] > to then
      span[1] = to + 1
    else
      table.remove(set, i)
    end
    span = set[i]
  end
  return n
end

-- set_within is the parts of first..last that are in the set.
local function set_within(set, first, last)
  local parts, i = {}, span_from(set, first)
  local span = set[i]
  while span and span[1] <= last do
    parts[#parts + 1] = { max(first, span[1]), min(last, span[2]) }
    i = i + 1
    span = set[i]
  end
  return parts
end

-- set_without is the parts of first..last that are not in the set.
local function set_without(set, first, last)
  local parts = {}
  for _, span in ipairs(set_within(set, first, last)) do
    if span[1] > first then parts[#parts + 1] = { first, span[1] - 1 } end
    first = span[2] + 1
  end
  if first <= last then parts[#parts + 1] = { first, last } end
  return parts
end

-- begins is where the first part of first..last ends that is in the set, or is not.
local function begins(set, first, last)
  local span = set[span_from(set, first)]
  if span == nil or span[1] > last then return last end
  return span[1] > first and span[1] - 1 or min(last, span[2])
end

local function set_overlap(set, first, last)
  if set[1] == nil then return 0 end
  local n = 0
  for _, span in ipairs(set_within(set, first, last)) do n = n + span[2] - span[1] + 1 end
  return n
end
