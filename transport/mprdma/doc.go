// Package mprdma is the transport of "Multi-Path Transport for RDMA in
// Datacenters" (NSDI 2018): one congestion window over several paths, spread by
// letting each acknowledgement release packets on its own path, and a receiver
// that takes packets out of order within a ring of slots. The layout on the
// wire is this toolkit's own.
//
// Where the paper and the layout leave a choice:
//
//   - Data packets keep IBA's headers, so a Middle or Last does not say where it
//     goes, and cannot be placed before its First has come. The receiver keeps
//     what came early in its slot and places it when its turn comes. On the wire
//     that does not show.
//   - The ring's head is the lowest PSN that has not arrived, not the first
//     packet of the message under way, so that a message may be longer than the
//     ring.
//   - READs and atomics are IBA's: a READ takes a PSN for each response, and the
//     window counts it as one packet. The request is acknowledged like any other
//     packet, and waits in its slot for its turn. The responses take the
//     request's path and are not acknowledged. The requester takes those of a
//     READ in order; when one is missing, or none comes for as long as its timer
//     runs, it asks again from there, as it asks again for an atomic's result,
//     which was saved. A response acknowledges its request.
//   - RNR NAKs, and NAKs for good, are standard acknowledgements (0x11). After an
//     RNR NAK the refused packet no longer counts as acknowledged.
//   - "inflate" counts acknowledgements, and by the paper's formula would drift
//     when some are lost or come twice: each lost one would narrow the window for
//     good. Here a packet's acknowledgement counts once, and one that has not come
//     two to four round-trip times after the cumulative point passed its packet
//     counts as if it had.
//   - In recovery each ACK or NACK releases a resend even if the window is full,
//     since it tells of a packet that has left the network.
//   - Early resends (FUSO) go on in recovery, once snd_retx has passed everything
//     that was unacknowledged: nothing new may leave then. So does spraying.
//   - A message that must not overtake is flagged in its first packet.
//   - A timeout sends everything unacknowledged at once, over random paths, and
//     leaves the window as it is. Timeouts alone cost retries.
package mprdma
