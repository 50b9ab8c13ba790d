// Package dissect turns captured frames into verdicts on RDMA packet loss.
//
// It knows neither files nor capture libraries: bytes and a time come in as a
// Frame, in the order of the capture. A Locator finds the transport packet in a
// frame; package codec decodes it; an Analyzer follows it. Events tell what
// happens as soon as it is known, a Report sums up.
//
// The model. A half is all that one end sends to one queue pair of another: RC
// packets name no source queue pair. Two halves that answer each other are a
// Connection; who answers whom is found from connection management, from
// feedback that fits one half's window and no other's, or stated in Config. The
// packets of a half in one PSN space are a Stream: its requests, or its READ
// responses. The feedback of the partner is about the stream.
//
// A Gap is a run of PSNs that were missing at one moment. It says how that is
// known (Evidence), on which side of the capture point they went (Where), and
// how it ended (Closed). Each packet that was sent again has a Cause, and a
// Verdict on whether sending it was of use. Lost is what the capture proves;
// what was late, what the capture itself missed, and what nobody can tell
// (Undecided) are counted apart and never guessed. A queue pair that is used
// again begins a new epoch and is not billed for the jump.
//
// Memory is bounded by connections, by what is in flight or missing, and by
// Config; what was dropped for that is counted in Report.Evicted. Bad input
// never panics.
//
//	a := dissect.NewAnalyzer(dissect.Config{Events: show})
//	a.OpenCapture("trace.pcap", "pcap")
//	for each frame { a.Frame(&frame) }
//	a.CloseCapture(0, drops, err)
//	a.End()
//	report := a.Report()
package dissect
