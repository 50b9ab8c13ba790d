package dissect

// reason is a Cause as an index, so that counting needs no map.
type reason uint8

const (
	noReason reason = iota
	byNAK
	byIRNNack
	byTCAETH
	byMPNack
	byImpliedNAK
	byRNR
	byTimeout
	byEarly
	numReasons
)

var causes = [numReasons]Cause{
	byNAK: CauseNAK, byIRNNack: CauseIRNNack, byTCAETH: CauseTCAETH, byMPNack: CauseMPNack,
	byImpliedNAK: CauseImpliedNAK, byRNR: CauseRNR, byTimeout: CauseTimeout, byEarly: CauseEarly,
}

// judgement is a Verdict as an index.
type judgement uint8

const (
	isNeeded judgement = iota
	isRedundant
	isWasted
	isUnknown
	numJudgements
)

var verdicts = [numJudgements]Verdict{Needed, Redundant, Wasted, UnknownVerdict}

// resends counts what was sent again.
type resends struct {
	packets, bytes int64
	cause          [numReasons]int64
	verdict        [numJudgements]int64
}

func (r *resends) add(packets, bytes int64, c reason, v judgement) {
	if c == noReason {
		c = byEarly // repeated in the middle of new data
	}
	r.packets += packets
	r.bytes += bytes
	r.cause[c] += packets
	r.verdict[v] += packets
}

// judgeAgain moves packets from one verdict to another.
func (r *resends) judgeAgain(packets int64, from, to judgement) {
	r.verdict[from] -= packets
	r.verdict[to] += packets
}

// report is the counts in the form of the report; what is zero is left out of
// the two divisions.
func (r *resends) report() Retransmitted {
	out := Retransmitted{Packets: r.packets, PayloadBytes: r.bytes, ByCause: map[Cause]int64{}, ByVerdict: map[Verdict]int64{}}
	for i, n := range r.cause {
		if n != 0 {
			out.ByCause[causes[i]] = n
		}
	}
	for i, n := range r.verdict {
		if n != 0 {
			out.ByVerdict[verdicts[i]] = n
		}
	}
	return out
}
