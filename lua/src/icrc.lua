-- The ICRC. Lua takes its time over it, so that it is computed only where a
-- preference asks, or where nothing else tells whether a frame is RDMA.

local icrc

do

local crc_update -- crc, string, first and last place in it

do
  -- T[0][i] is what the byte i adds to the CRC; T[k][i] what it adds when k bytes
  -- follow it. Four bytes are taken at a time.
  local T = { [0] = {}, {}, {}, {} }
  -- Lua 5.3 and later have operators that older ones cannot even parse; those
  -- have a library, which the later ones lack.
  local native = load and load([[
    local T = ...
    local T0, T1, T2, T3 = T[0], T[1], T[2], T[3]
    local byte, unpack = string.byte, string.unpack
    for i = 0, 255 do
      local c = i
      for _ = 1, 8 do c = c & 1 == 1 and c >> 1 ~ 0xedb88320 or c >> 1 end
      T0[i] = c
    end
    for k = 1, 3 do
      for i = 0, 255 do T[k][i] = T0[T[k - 1][i] & 255] ~ T[k - 1][i] >> 8 end
    end
    return function(crc, s, i, j)
      for at = i, j - 3, 4 do
        local x = crc ~ unpack("<I4", s, at)
        crc = T3[x & 255] ~ T2[x >> 8 & 255] ~ T1[x >> 16 & 255] ~ T0[x >> 24]
        i = at + 4
      end
      for at = i, j do crc = T0[(crc ~ byte(s, at)) & 255] ~ crc >> 8 end
      return crc
    end]])
  if native then
    crc_update = native(T)
  else
    local T0, T1, T2, T3 = T[0], T[1], T[2], T[3]
    local bxor = (bit32 or bit).bxor -- of bit the result is signed
    for i = 0, 255 do
      local c = i
      for _ = 1, 8 do
        local odd = c % 2
        c = (c - odd) / 2
        if odd == 1 then c = bxor(c, 0xedb88320) % 0x100000000 end
      end
      T0[i] = c
    end
    for k = 1, 3 do
      for i = 0, 255 do
        local before = T[k - 1][i]
        T[k][i] = bxor(T0[before % 256], floor(before / 256)) % 0x100000000
      end
    end
    crc_update = function(crc, s, i, j)
      while i + 3 <= j do
        local a, b, c, d = byte(s, i, i + 3)
        local x = bxor(crc, a + b * 256 + c * 65536 + d * 16777216) % 0x100000000
        local x0 = x % 256
        x = (x - x0) / 256
        local x1 = x % 256
        x = (x - x1) / 256
        local x2 = x % 256
        crc = bxor(T3[x0], T2[x1], T1[x2], T0[(x - x2) / 256])
        i = i + 4
      end
      crc = crc % 0x100000000
      for at = i, j do
        local low = crc % 256
        crc = bxor(T0[bxor(low, byte(s, at)) % 256], (crc - low) / 256) % 0x100000000
      end
      return crc
    end
  end
end

local ONES = string.rep("\255", 8)

-- icrc computes the ICRC of the packet that at describes. s is the frame. It is
-- nil where the ICRC was not captured.
function icrc(s)
  local stop = at.bth + at.wire - 4
  if at.wire < 16 or #s < stop + 4 or at.stop < stop + 4 then return nil end
  local b = at.bth - at.start
  if b + 5 > 256 then return nil end
  local head = { byte(s, at.start + 1, at.bth + 5) }
  local crc = 0xffffffff
  local ones = function(...)
    for _, i in ipairs { ... } do head[i + 1] = 255 end
  end
  if at.carrier == IPV4 then
    ones(1, 8, 10, 11, b - 2, b - 1)
  elseif at.carrier == IB then
    head[1] = head[1] % 16 + 0xf0
  else
    head[1] = head[1] - head[1] % 16 + 15
    ones(1, 2, 3, 7)
    if at.carrier == IPV6 then ones(b - 2, b - 1) end
  end
  ones(b + 4)
  if at.carrier ~= IB then crc = crc_update(crc, ONES, 1, 8) end
  local chars = {}
  for i, v in ipairs(head) do chars[i] = string.char(v) end
  crc = crc_update(crc, table.concat(chars), 1, #chars)
  crc = 0xffffffff - crc_update(crc, s, at.bth + 6, stop)
  local c1, c2, c3, c4 = byte(s, stop + 1, stop + 4)
  return crc, c1 + c2 * 256 + c3 * 65536 + c4 * 16777216
end

end
