-- A summary for each half: of tshark when it has read the capture, of Wireshark
-- in the Tools menu.

do

local function address_text(a)
  if #a == 4 then return string.format("%d.%d.%d.%d", byte(a, 1, 4)) end
  if #a == 2 then return "lid:" .. u16(a, 0) end
  local groups = {}
  for i = 0, 14, 2 do groups[#groups + 1] = string.format("%x", u16(a, i)) end
  return table.concat(groups, ":")
end

local function summary_text()
  local lines = {
    "RDMA sequence analysis by queue pair",
    "",
    string.format("%-42s %-8s %-11s %9s %6s %8s %8s %6s %6s %6s %10s", "sent to", "QP", "transport", "packets", "gaps",
      "missing", "resent", "late", "NAKs", "RNR", "min RTT")
  }
  local rows = 0
  for _, h in ipairs(all) do
    for _, s in ipairs { h.req, h.resp } do
      if s.on then
        local back = h.partner
        rows = rows + 1
        lines[#lines + 1] = string.format("%-42s %-8s %-11s %9d %6d %8s %8d %6d %6s %6s %10s",
          address_text(h.src) .. " > " .. address_text(h.dst), string.format("0x%06x", h.qp),
          s.response and "responses" or h.service == "UC" and "UC" or h.transport, s.n + s.again, s.gaps, whole(s.missing), s.resent, s.late,
          s.response and "" or back and back.naks or "?", s.response and "" or back and back.rnr or "?",
          s.rtt > 0 and string.format("%.1f us", s.rtt / 1000) or "")
      end
    end
  end
  if rows == 0 then lines[#lines + 1] = "no packets of connected services" end
  return table.concat(lines, "\n") .. "\n"
end

local listener

-- listen prints the summary at the end, where tshark is asked for it. tshark -z
-- cannot name a tap of Lua's, but a listener draws when the capture was read.
listen = function()
  if rdma.prefs.summary and listener == nil and not gui_enabled() then
    listener = Listener.new("frame")
    function listener.draw() print(summary_text()) end
  end
end

if gui_enabled() then
  register_menu("RDMA/Loss by queue pair", function()
    local window = TextWindow.new("RDMA loss by queue pair")
    window:set(summary_text())
  end, MENU_TOOLS_UNSORTED)
end

end
