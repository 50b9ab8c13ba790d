-- READs. A request takes as many PSNs as its response has packets, which depends
-- on the path MTU: that of connection management, of First and Middle packets,
-- or one that makes the next request fit. A half keeps the set of those possible.

local MTUS = { 256, 512, 1024, 2048, 4096 }

local function packets_of(size, mtu) return max(1, floor((size + mtu - 1) / mtu)) end

-- read_length is the PSNs that a READ takes where all MTUs left agree.
local function read_length(h, size)
  local n
  for _, mtu in ipairs(h.mtus) do
    local k = packets_of(size, mtu)
    if n and n ~= k then return nil end
    n = k
  end
  return n
end

local function set_mtus(h, list)
  for _, side in ipairs { h, h.partner } do
    side.mtus = list
    side.mtu = list[2] == nil and list[1] or nil -- the one that is left
  end
end

local function fitting(h, size, k)
  local list = {}
  for _, mtu in ipairs(h.mtus) do
    if packets_of(size, mtu) == k then list[#list + 1] = mtu end
  end
  return list
end

local function most_of(tail)
  if tail.size == nil then return FORWARD_REACH end
  return min(packets_of(tail.size, 256), 0x400000)
end

-- end_tail ends the newest READ before q.
local function end_tail(s, q)
  local tail = s.tail
  s.tail = nil
  if q > tail.seq then
    local read = s.reads[#s.reads]
    if read and read[1] == tail.seq then read[2] = q - 1 end
    if s.next == s.top then s.next = max(s.top, q) end
    s.top = max(s.top, q)
  end
  quiet(s)
end

-- settle_tail decides how long the newest READ is from where the next request
-- begins.
local function settle_tail(s, q)
  local tail = s.tail
  if tail == nil then return end
  local k = q - tail.seq
  if tail.size == nil then return end_tail(s, q) end
  local list = fitting(s.half, tail.size, k)
  if list[1] then
    set_mtus(s.half, list)
    return end_tail(s, q)
  end
  local widest = s.half.mtus[#s.half.mtus]
  end_tail(s, tail.seq + min(packets_of(tail.size, widest), k))
end

local function settle_tails(h)
  for _, side in ipairs { h, h.partner } do
    local tail = side.req.tail
    if tail and tail.size then
      local n = read_length(side, tail.size)
      if n then end_tail(side.req, tail.seq + n) end
    end
  end
end

-- learn_mtu takes the path MTU from the payload of a First or Middle packet.
local function learn_mtu(h, p)
  if p.form.ends or h.mtu == p.payload then return end
  for _, mtu in ipairs(MTUS) do
    if mtu == p.payload then
      set_mtus(h, { mtu })
      settle_tails(h)
    end
  end
end

local function read_at(s, seq)
  for i = #s.reads, 1, -1 do
    local read = s.reads[i]
    if read[1] <= seq and seq <= read[2] then return read end
  end
end

local function requests_of(s)
  local partner = s.half.partner
  return partner and partner.req.on and partner.req or nil
end

local function responses_of(s)
  local partner = s.half.partner
  return partner and partner.resp or nil
end

-- sent is the parts below the top that packets begin in: all, but for the inside
-- of READs. Responses follow from each other within one READ only.
local function sent(s, first, last)
  local parts = {}
  if first > last then return parts end
  if s.response then
    local req = requests_of(s)
    local read = req and read_at(req, unwrap(req.top, (last + 1) % 0x1000000))
    if read then
      first = max(first, unwrap(s.top, read[1] % 0x1000000))
      if first <= last then parts[1] = { first, last } end
    end
    return parts
  end
  for _, read in ipairs(s.reads) do
    local from, to = max(read[1] + 1, first), min(read[2], last)
    if from <= to then
      if first < from then parts[#parts + 1] = { first, from - 1 } end
      first = to + 1
    end
  end
  if first <= last then parts[#parts + 1] = { first, last } end
  return parts
end

-- expected is the parts above the top that packets must come in: all of it for
-- requests, for responses what READs asked for.
local function expected(s, first, last)
  if first > last then return {} end
  if not s.response or s.half.transport == "irn" then return { { first, last } } end
  local req = requests_of(s)
  if req == nil then return s.open and { { first, last } } or {} end
  local parts = {}
  for _, read in ipairs(req.reads) do
    local from = unwrap(first, read[1] % 0x1000000)
    local a, b = max(first, from), min(last, from + read[2] - read[1])
    if a <= b then parts[#parts + 1] = { a, b } end
  end
  return parts
end
