-- Runs the plugin outside Wireshark, in whatever Lua this is: a pcap file of
-- Ethernet frames goes in, and what the analysis said of each frame comes out.
--
--   lua outside.lua PLUGIN FILE [ICRC]

local plugin, file, with_icrc = ...

local function anything()
  return setmetatable({}, { __index = function() return function() return {} end end, __call = function() return {} end })
end

local protos, post = {}, nil
function Proto(name)
  local p = { prefs = {}, name = name }
  function p:register_heuristic() end
  protos[name] = p
  return p
end
ProtoField, ProtoExpert, NSTime = anything(), anything(), anything()
Pref = setmetatable({}, { __index = function() return function(_, default) return default end end })
base = { DEC = 1, HEX = 2, NONE = 0 }
expert = { group = {}, severity = {} }
frametype = {}
Dissector = { get = function() return {} end }
DissectorTable = { get = function() return { get_dissector = function() end, add_for_decode_as = function() end, set = function() end } end }
function register_postdissector(p) post = p end
function gui_enabled() return false end
Listener = anything()

assert(loadfile(plugin))()
post.prefs.icrc = with_icrc == "icrc"
post.init()

-- Items of the tree take anything, and print the values that are text.
local item = {}
item.__index = item
for _, name in ipairs { "add_le", "set_generated", "append_text", "add_proto_expert_info" } do
  item[name] = function(self) return self end
end
function item:add(_, value, text)
  if type(value) == "string" then io.write(" ", value) end
  if type(text) == "string" then io.write(" ", text) end
  return setmetatable({}, item)
end
local seen
function item:referenced() return seen end

local f = assert(io.open(file, "rb"))
local head = f:read(24)
local b = { head:byte(1, 4) }
local little, nano = b[1] == 0xd4 or b[1] == 0x4d, b[2] == 0x3c or b[3] == 0x3c
local function u32(s, o)
  local p, q, r, t = s:byte(o, o + 3)
  if little then p, q, r, t = t, r, q, p end
  return ((p * 256 + q) * 256 + r) * 256 + t
end

local frames = {}
local start
while true do
  local record = f:read(16)
  if record == nil or #record < 16 then break end
  local time = u32(record, 1) + u32(record, 5) / (nano and 1e9 or 1e6)
  start = start or time
  frames[#frames + 1] = { data = f:read(u32(record, 9)) or "", wire = u32(record, 13), time = time - start }
end

local tvb = {}
tvb.__index = tvb
function tvb:captured_len() return #self.data end
function tvb:reported_len() return self.wire end
function tvb:raw(o, n)
  assert(o >= 0 and n >= 0 and o + n <= #self.data, "out of bounds")
  return self.data:sub(o + 1, o + n)
end
function tvb:range(o, n)
  assert(o >= 0 and n > 0 and o + n <= #self.data, "out of bounds")
  return {}
end

local notes = {}
for pass = 1, 2 do
  seen = pass == 2
  for i, frame in ipairs(frames) do
    local columns = { info = { append = function(_, text) notes[i] = text end } }
    local pinfo = { visited = seen, number = i, rel_ts = frame.time, dst_port = 4791, cols = columns, net_src = "a", dl_src = "b", src = "c" }
    if seen then io.write(i) end
    post.dissector(setmetatable(frame, tvb), pinfo, setmetatable({}, item))
    if seen then io.write(notes[i] or "", "\n") end
  end
end
