-- What the analysis has to say of frames. It is found out on the first pass and
-- may change until that ends: a packet that looks late turns out to be the first
-- of a resend run by the one that follows it. Later passes read it.

local marks = {}    -- by frame number
local acked_by = {} -- frame of a request to the frame that acknowledged it
local acks_of = {}  -- frame of an acknowledgement to the frame whose PSN it carries
local rtts = {}     -- frame of an acknowledgement to the round trip that it ends, ns

local function mark(frame)
  local m = marks[frame]
  if m == nil then
    m = {}
    marks[frame] = m
  end
  return m
end

local function mark_gap(g)
  local m = mark(g.frame)
  m.gaps = m.gaps or {}
  m.gaps[#m.gaps + 1] = g
end

-- unmark_gap takes a gap off its frame. Most are among the last.
local function unmark_gap(g)
  local list = marks[g.frame].gaps
  for i = #list, 1, -1 do
    if list[i] == g then
      table.remove(list, i)
      return
    end
  end
end
