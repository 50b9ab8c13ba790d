-- A NACK of MP-RDMA names what the head of the ring waits for, not what it
-- refuses; but that is the first unanswered packet of its path which lies so far
-- beyond the head that the ring, as large as acknowledgements have shown it to be,
-- has no slot for it.

-- accepted follows the acknowledgement of a packet, which had a slot.
local function accepted(s, seq, cumulative, sport)
  local d = s.d
  d.slots = max(d.slots, seq - cumulative)
  set_remove(d.turned, seq, seq)
  local b = d.books[seq]
  if b then b.back = b.back + 1 end
  answer(s, sport, seq, seq)
end

-- turned_away follows the NACK of a full ring.
local function turned_away(s, cumulative, sport)
  local d = s.d
  local seq = answer(s, sport, cumulative + 1 + max(d.slots, 1), s.top)
  if seq then
    set_insert(d.turned, seq, seq)
    local b = open_book(d, seq)
    b.back = b.back + 1
  end
end
