// Package windowless is the transport of the internet draft "Windowless
// Cumulative ACK Extension for RDMA Retransmission" as pure state machines: a
// sender at a fixed rate, without a window, and a receiver that reports which
// PSNs it has in a T/C AETH, when so many packets have come or so much time has
// passed. The sender resends what lies between the blocks of a report.
//
// The draft means the InfiniBand headers where it names RFC 5040, and blames an
// "AETH SACK" that InfiniBand does not have.
//
// # Two modes
//
// The draft word for word does not always deliver. Literal follows it all the
// same, so that this can be measured:
//
//   - A report with SegmentNum 1 declares everything behind LastFinishedPSN
//     lost, so packets under way are sent again.
//   - The list of segments is flushed with each report. A loss between two
//     batches makes the next report begin above it, and since everything before
//     LastFinishedPSN counts as received, it is hidden for ever.
//   - A resent packet that arrives in a later batch lies below that batch's
//     other segments and becomes its first continuous block.
//   - More than four segments do not fit, and the flush forgets the others.
//   - A lost tail is resent by the timeout only.
//   - A lost report takes its gaps with it, since the list was flushed.
//   - Both triggers are looked at only when a packet arrives, so the last
//     packets of a burst are not reported, every tail ends in the timeout, and
//     the timeout resends the newest block while the oldest may be missing.
//   - BatchStartTime is the time of the last reset, so the first packet after a
//     pause draws a report of one packet.
//   - BTH.PSN, which is LastFinishedPSN, is no cumulative acknowledgement.
//
// Anchored, the default, mends these with the same fragment and the same
// triggers. The receiver keeps its cumulative point and the ranges above it
// from report to report: LastFinishedPSN is that point, Seg1 to Seg3 are the
// lowest ranges above. The triggers also run on a timer that starts with a
// batch's first packet, a duplicate counts as a packet, and a number of ranges
// that rises above three is reported at once. The sender resends what is
// missing once in a round trip, believes that the tail is lost only of packets
// older than a round trip and a batch, and only if the report had room for
// more segments, and its timeout resends the oldest packet.
//
// # What the draft leaves open
//
// READs and atomics are those of IBA, with n PSNs for a READ of n responses.
// What is missing of their answers, as a later answer or the timeout shows, is
// asked for again, and of a READ that part only. In anchored mode an ATOMIC
// Acknowledge carries a report too. Requests are executed in the order of
// their PSNs, and what comes early waits.
//
// A retry is spent when the oldest PSN is resent and when the timer runs out;
// progress resets the count. RNR NAKs stand for themselves: the sender pauses,
// and sends the refused packet again.
package windowless
