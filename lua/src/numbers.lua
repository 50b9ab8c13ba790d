-- The IP identification tells the order of sending where the sender counts its
-- packets with it: it is believed once it counted on while the PSN went back.

local number, ordered, sent_rest, sent_less, sent_up_to

do

local MAX_ID_STEP = 4096 -- packets sent to others in between, or lost
local STEPS_OF_JUMP = 8  -- times that it must count on for each jump

-- take_number notes the identification of the packet that passes, and returns its
-- place in the order of sending, and whether it came in order or was overtaken.
local function take_number(n, id)
  if n.newest == nil then
    n.newest, n.at = id, 65536
    return
  end
  local step = (id - n.newest) % 65536
  if step >= 32768 then step = step - 65536 end
  local at = n.at + step
  if step > 0 and step <= MAX_ID_STEP then
    set_insert(n.skipped, n.at + 1, at - 1)
    n.at, n.newest, n.steps = at, id, n.steps + 1
    return at, "in order"
  elseif step < 0 and step >= -MAX_ID_STEP then
    if set_remove(n.skipped, at, at) > 0 then return at, "overtaken" end
  elseif step ~= 0 then
    n.at, n.newest, n.skipped, n.jumps = n.at + 65536, id, {}, n.jumps + 1
  end
end

-- number gives a packet its place, from the first trouble of its stream on. New
-- data that passed since without a look counts too.
function number(s, p)
  p.place, p.order = nil, nil
  local d = s.d
  if d == nil then return end
  local n = d.numbers
  if n == nil then
    n = { skipped = {}, steps = 0, jumps = 0, taken = max(0, s.n - 2) }
    d.numbers, d.sent_last = n, 0
  end
  for k = n.taken + 1, s.n do
    local place, order = take_number(n, s.ids[k])
    if order == "in order" then d.sent_last = place end
  end
  n.taken = s.n
  p.place, p.order = take_number(n, p.id)
end

function ordered(s, p)
  local n = s.d and s.d.numbers
  if n == nil or not n.counts or n.steps <= STEPS_OF_JUMP * n.jumps or s.response or
    s.half.transport ~= "go-back-n" or s.half.service == "UC" then return nil end
  return p.order
end

-- sent_rest reports whether all that the run had yet to carry before seq was sent,
-- and nothing else had the sender begin there.
function sent_rest(s, p, seq, idle)
  if ordered(s, p) ~= "in order" or p.place - s.d.sent_last - 1 ~= seq - s.next then return false end
  for _, k in ipairs(s.d.asks) do
    if k.seq == seq then return false end
  end
  return not idle
end

-- sent_less reports whether the run broke off before it had carried all of that.
function sent_less(s, p, seq)
  if ordered(s, p) ~= "in order" then return false end
  local n, partner = p.place - s.d.sent_last - 1, s.half.partner
  local reads = s.reads[1] ~= nil or partner == nil or partner.resp ~= nil
  return n < seq - s.next and (n == 0 or not reads)
end

function sent_up_to(s, p)
  if p.order == "in order" and s.d then s.d.sent_last = p.place end
end

end
