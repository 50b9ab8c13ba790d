-- The last word on a gap.

local retire

do

local MAX_DONE = 8192 -- gaps that are over, and may be taken back

-- delivered says what became of a part of a gap that nothing filled, though the
-- receiver has it: it was named and repeated, or no copy that it can have taken
-- passed here, or one that passed did.
local function delivered(d, g)
  local first, last = g.first, g.last
  local named, damaged = set_overlap(d.named, first, last) > 0, g.kind == "icrc"
  g.closed = "retransmitted"
  if damaged or set_overlap(d.unseen, first, last) > 0 or set_overlap(d.refused, first, last) > 0 then
    g.closed = "not captured"
    if not named or damaged and g.confirmed == nil then
      local n = set_remove(d.named, first, last)
      for _, set in ipairs(g.again or {}) do n = n + set_remove(set, first, last) end
      if n > 0 then set_remove(d.lost_psns, first, last) end
      set_insert(d.missed, first, last)
      return
    end
  end
  lose(d, set_without(d.named, first, last))
end

-- parted is spans, cut where the set begins and ends.
local function parted(set, spans)
  local parts = {}
  for _, span in ipairs(spans) do
    local first = span[1]
    while first <= span[2] do
      local last = begins(set, first, span[2])
      parts[#parts + 1] = { first, last }
      first = last + 1
    end
  end
  return parts
end

-- conclude ends the first gap, in parts where not all of it ended alike.
local function conclude(s)
  local d = s.d
  local g = d.gaps[1]
  local parts = { { g.first, g.last } }
  for _, set in ipairs { d.holes, d.named, d.unseen, d.refused } do
    if set_overlap(d.holes, g.first, g.last) > 0 then parts = parted(set, parts) end
  end
  local pieces = { g }
  if parts[2] then pieces = cut(s, d.gaps, 1, parts) end
  for _, piece in ipairs(pieces) do
    table.remove(d.gaps, 1)
    if set_has(d.holes, piece.first) then
      delivered(d, piece)
    else
      piece.closed = piece.closed or "retransmitted"
    end
    d.done[#d.done + 1] = piece
  end
  for _, set in ipairs { d.holes, d.unseen, d.named } do set_remove(set, g.first, g.last) end
  if #d.done > MAX_DONE then
    local newest = {}
    for k = #d.done - MAX_DONE / 2 + 1, #d.done do newest[#newest + 1] = d.done[k] end
    d.done = newest
  end
end

-- retire takes leave of what lies before q, which was acknowledged.
function retire(s, q)
  local d = s.d
  while d.gaps[1] and d.gaps[1].last < q do
    local g = d.gaps[1]
    if g.suspect and set_overlap(d.holes, g.first, g.last) > 0 and set_overlap(d.unseen, g.first, g.last) == 0 then
      d.selective = true -- nobody missed what the run left out: it was not sent
      cut(s, d.gaps, 1, {})
    else
      conclude(s)
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

end
