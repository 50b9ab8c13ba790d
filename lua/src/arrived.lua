-- MP-RDMA acknowledges each packet that arrives, and says whether it was one sent
-- again. What is taken for lost on the word of a NACK of a full ring is taken back
-- when an acknowledgement tells of a copy that can be no other.

local heard_of, open_book

do

local MAX_BOOKS = 1024

-- open_book is the book of a packet that was sent again or refused: how many
-- copies were sent, how many of these had arrived, as acknowledgements or
-- refusals tell, and how many were taken for lost on the word of a NACK. The
-- lowest give way.
function open_book(d, seq)
  local books = d.books
  if books[seq] == nil then
    if d.n_books >= MAX_BOOKS then
      local seqs = {}
      for q in pairs(books) do seqs[#seqs + 1] = q end
      table.sort(seqs)
      for k = 1, MAX_BOOKS / 2 do books[seqs[k]] = nil end
      d.n_books = MAX_BOOKS / 2
    end
    books[seq], d.n_books = { sent = 1, back = 0, lost = 0 }, d.n_books + 1
  end
  return books[seq]
end

-- tell_overtaken marks the frame of the first copy of a packet: it was late
-- further on, as the acknowledgement tells. A copy that passes for a resend stays
-- one.
local function tell_overtaken(s, seq, p)
  local late_frame, frame = p.frame, carried(s, seq)
  while frame do
    local m = marks[frame]
    if m == nil or not m.late then late_frame = frame end
    frame = m and m.of
  end
  mark(late_frame).late = true
  s.late = s.late + 1
end

-- heard_of follows the acknowledgement of one packet, before anything else that
-- the acknowledgement says.
function heard_of(s, seq, p)
  local d = s.d
  if not set_has(d.lost_psns, seq) or set_has(d.unseen, seq) then return end
  if p.echoes_retx then
    local b = d.books[seq]
    if b and b.lost > b.sent - b.back then
      b.lost = b.lost - 1
      was_late(s, seq, seq)
    end
  elseif set_has(d.holes, seq) then
    late(s, seq, seq, p.frame)
    tell_overtaken(s, seq, p)
  else
    was_late(s, seq, seq)
    if not set_has(d.lost_psns, seq) then tell_overtaken(s, seq, p) end -- no other copy was lost
  end
end

end
