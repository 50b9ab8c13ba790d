// Package conform judges captured traffic against what its transport promises.
//
// A Checker follows the packets that a dissect.Analyzer has placed: who answers
// whom, unwrapped PSNs and epochs come from there. The arrival order of requests
// runs through the pure responder of package transport, and what that would have
// said is compared with what was said.
//
// A capture point sees neither end. What passed it may be lost behind it, feedback
// may be in flight or lost, and acknowledgements may be coalesced. So a rule is
// broken only where no loss, on either side, explains what was seen. Some rules can
// be judged next to one end alone, those for example about the order in which a
// requester sends: a packet that is missing elsewhere may have been lost on its
// way. Suspicions of that kind wait until the end of the flow, when it is known
// where the capture point is, and are dropped where it is not next to that end.
//
//	c := conform.NewChecker(conform.Config{Found: show})
//	a := dissect.NewAnalyzer(dissect.Config{Follow: c.Follow})
//	... frames ...
//	c.End()
package conform
