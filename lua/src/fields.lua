-- Wireshark's fields, made from the field table.

local rdma = Proto("rdma", "RDMA (rdmadump " .. VERSION .. ")")

-- F holds the fields that are not rows of the table.
local F = {
  opcode_name = ProtoField.string("rdma.opcode_name", "Operation"),
  carrier = ProtoField.string("rdma.carrier", "Carrier"),
  payload = ProtoField.bytes("rdma.payload", "Payload"),
  payload_len = ProtoField.uint32("rdma.payload_len", "Payload length"),
  pad = ProtoField.bytes("rdma.pad", "Pad"),
  icrc = ProtoField.uint32("rdma.icrc", "ICRC", base.HEX),
  icrc_status = ProtoField.string("rdma.icrc.status", "ICRC status"),
  error = ProtoField.string("rdma.error", "Error"),
  cnp = ProtoField.none("rdma.cnp.congestion", "Congestion notification"),
  kind = ProtoField.string("rdma.aeth.kind", "Says"),
  credits = ProtoField.uint32("rdma.aeth.credits", "Credits"),
  rnr_timer = ProtoField.double("rdma.aeth.rnr_timer", "RNR timer in ms"),
  nak_code = ProtoField.uint8("rdma.aeth.nak_code", "NAK code", base.DEC, NAK_CODES),
  report_gap = ProtoField.string("rdma.tcaeth.gap", "Missing"),
  report_count = ProtoField.uint32("rdma.tcaeth.gap_count", "Missing PSNs"),
  report_length = ProtoField.uint32("rdma.tcaeth.length", "Length"),
  report_error = ProtoField.string("rdma.tcaeth.error", "Error"),
  analysis = ProtoField.none("rdma.analysis", "Sequence analysis"),
  gap = ProtoField.string("rdma.analysis.gap", "Missing before this packet, or named by it"),
  gap_first = ProtoField.uint24("rdma.analysis.gap_first", "First missing PSN"),
  gap_last = ProtoField.uint24("rdma.analysis.gap_last", "Last missing PSN"),
  gap_count = ProtoField.uint32("rdma.analysis.gap_count", "Missing PSNs"),
  gap_evidence = ProtoField.string("rdma.analysis.gap_evidence", "Evidence"),
  gap_closed = ProtoField.string("rdma.analysis.gap_closed", "Closed"),
  gap_closed_by = ProtoField.framenum("rdma.analysis.gap_closed_by", "Closed by frame"),
  lost_again = ProtoField.string("rdma.analysis.lost_again", "Lost again"),
  retransmission = ProtoField.none("rdma.analysis.retransmission", "Retransmission"),
  retransmission_cause = ProtoField.string("rdma.analysis.retransmission_cause", "Retransmission cause"),
  retransmission_of = ProtoField.framenum("rdma.analysis.retransmission_of", "Retransmission of frame"),
  nak_frame = ProtoField.framenum("rdma.analysis.nak_frame", "Asked for by frame"),
  nak_to_retransmission = ProtoField.relative_time("rdma.analysis.nak_to_retransmission", "Time from the NAK to the retransmission"),
  out_of_order = ProtoField.none("rdma.analysis.out_of_order", "Out of order"),
  duplicate_ack = ProtoField.none("rdma.analysis.duplicate_ack", "Duplicate ACK"),
  duplicate_capture = ProtoField.none("rdma.analysis.duplicate_capture", "Captured twice"),
  nak = ProtoField.none("rdma.analysis.nak", "NAK"),
  nak_psn = ProtoField.uint24("rdma.analysis.nak_psn", "PSN that the NAK names"),
  rnr_nak = ProtoField.none("rdma.analysis.rnr_nak", "RNR NAK"),
  rtt = ProtoField.relative_time("rdma.analysis.rtt", "Round trip"),
  frame_acked_by = ProtoField.framenum("rdma.analysis.frame_acked_by", "Acknowledged by frame", base.NONE, frametype and frametype.ACK),
  acks_frame = ProtoField.framenum("rdma.analysis.acks_frame", "Acknowledges frame", base.NONE, frametype and frametype.ACK),
  names_frame = ProtoField.framenum("rdma.analysis.names_frame", "Names the packet of frame"),
}

local X = {
  gap = ProtoExpert.new("rdma.expert.gap", "Packets are missing", expert.group.SEQUENCE, expert.severity.WARN),
  lost_again = ProtoExpert.new("rdma.expert.lost_again", "What was sent again is missing once more", expert.group.SEQUENCE, expert.severity.WARN),
  retransmission = ProtoExpert.new("rdma.expert.retransmission", "Retransmission", expert.group.SEQUENCE, expert.severity.NOTE),
  out_of_order = ProtoExpert.new("rdma.expert.out_of_order", "Out of order", expert.group.SEQUENCE, expert.severity.NOTE),
  nak = ProtoExpert.new("rdma.expert.nak", "NAK", expert.group.SEQUENCE, expert.severity.WARN),
  rnr_nak = ProtoExpert.new("rdma.expert.rnr_nak", "RNR NAK: the receiver has no buffer ready", expert.group.SEQUENCE, expert.severity.NOTE),
  duplicate = ProtoExpert.new("rdma.expert.duplicate_ack", "Duplicate ACK", expert.group.SEQUENCE, expert.severity.CHAT),
  cnp = ProtoExpert.new("rdma.expert.cnp", "Congestion notification", expert.group.SEQUENCE, expert.severity.NOTE),
  icrc = ProtoExpert.new("rdma.expert.icrc", "Bad ICRC: the receiver drops this packet", expert.group.CHECKSUM, expert.severity.ERROR),
  error = ProtoExpert.new("rdma.expert.error", "The packet does not fit its headers", expert.group.MALFORMED, expert.severity.ERROR),
  report = ProtoExpert.new("rdma.expert.report", "The segments of a T/C AETH make no sense", expert.group.PROTOCOL, expert.severity.WARN),
}

do
  local BASES = { dec = base.DEC, hex = base.HEX }
  local WIDTHS = { [1] = "uint8", [2] = "uint16", [3] = "uint24", [4] = "uint32", [8] = "uint64" }
  local list = {}
  for _, f in pairs(F) do list[#list + 1] = f end
  for _, h in ipairs(HEADER_ROWS) do
    if not h.single then
      h.item = ProtoField.none("rdma." .. h.key, h.name)
      list[#list + 1] = h.item
    end
    for _, f in ipairs(h.fields) do
      local abbr = h.single and "rdma." .. h.key or "rdma." .. h.key .. "." .. f.key
      local values = VALUES[abbr]
      if f.base == "flag" then
        f.item = ProtoField.bool(abbr, f.name, 8, nil, f.mask, f.doc)
      elseif f.base == "gid" then
        f.item = ProtoField.ipv6(abbr, f.name, f.doc)
      elseif f.base == "data" then
        f.item = ProtoField.bytes(abbr, f.name, base.NONE, f.doc)
      else
        local make = ProtoField[WIDTHS[f.size]]
        f.item = f.mask and make(abbr, f.name, BASES[f.base], values, f.mask, f.doc) or make(abbr, f.name, BASES[f.base], values, nil, f.doc)
      end
      list[#list + 1] = f.item
    end
  end
  rdma.fields = list
  local experts = {}
  for _, x in pairs(X) do experts[#experts + 1] = x end
  rdma.experts = experts
end
