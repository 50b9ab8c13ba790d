package top

import (
	"math"

	"github.com/rdmadump/rdmadump/dissect"
)

// Row is a connection as it is shown. Counts are of both directions together.
type Row struct {
	Key                uint32 // as dissect.Snapshot.Key
	ID                 int
	Service, Transport string
	A, B               dissect.SnapshotEnd
	First, Last        dissect.Time
	RTT                dissect.Time // the newest round trip, nanoseconds; 0 unknown
	Total              dissect.Counts
	Rates              Rates
	Trouble            float64 // points a second, see points
	Spark              Spark
}

// Rates are events a second.
type Rates struct {
	Packets, Bytes, Lost, Resent, Naks, RNRNaks, Timeouts, CEMarked, CNPs float64
}

// points weighs what went wrong: by how long a connection stands still for it,
// roughly. It is what connections are sorted by, see TroubleHelp.
func points(c *dissect.Counts) float64 {
	return float64(c.Lost) + float64(c.Retransmitted) + float64(c.Naks) +
		10*float64(c.RNRNaks) + 100*float64(c.Timeouts) + 0.1*float64(c.CNPs+c.CEMarked)
}

// TroubleHelp says what trouble is.
const TroubleHelp = `Trouble is points a second, over the last ten: a timeout of the sender is 100
points, an RNR NAK 10, a packet lost, a packet sent again and a NAK 1 each, a
CNP and a CE mark 0.1. Connections that have the same are sorted by their points
so far, then by packets.`

const (
	rateSpan    = 2e9  // nanoseconds that rates look back, roughly
	troubleSpan = 10e9 // that trouble looks back
)

// flow is sums that fade.
type flow struct {
	packets, bytes, lost, resent, naks, rnrNaks, timeouts, ceMarked, cnps float32
	points                                                                float32
}

// fade lets a time pass, in nanoseconds.
func (f *flow) fade(span float64) {
	k := float32(math.Exp(-span / rateSpan))
	for _, sum := range [...]*float32{&f.packets, &f.bytes, &f.lost, &f.resent, &f.naks, &f.rnrNaks, &f.timeouts, &f.ceMarked, &f.cnps} {
		*sum *= k
	}
	f.points *= float32(math.Exp(-span / troubleSpan))
}

// add adds what happened since.
func (f *flow) add(c *dissect.Counts) {
	f.packets += float32(c.Packets)
	f.bytes += float32(c.PayloadBytes)
	f.lost += float32(c.Lost)
	f.resent += float32(c.Retransmitted)
	f.naks += float32(c.Naks)
	f.rnrNaks += float32(c.RNRNaks)
	f.timeouts += float32(c.Timeouts)
	f.ceMarked += float32(c.CEMarked)
	f.cnps += float32(c.CNPs)
	f.points += float32(points(c))
}

// forgotten is the part of an event that is no longer told of.
const forgotten = 0.02

// rates is the sums a second, age nanoseconds after the first of what they sum up.
func (f *flow) rates(age float64) Rates {
	k := perSecond(rateSpan, age)
	at := func(sum float32) float64 {
		if sum < forgotten {
			return 0
		}
		return float64(sum) * k
	}
	return Rates{at(f.packets), at(f.bytes), at(f.lost), at(f.resent), at(f.naks), at(f.rnrNaks), at(f.timeouts), at(f.ceMarked), at(f.cnps)}
}

// perSecond is what makes a rate of a sum that fades: what is younger than the
// span has not faded as much.
func perSecond(span, age float64) float64 {
	const youngest = 1e6 // a millisecond; less makes no rate
	return 1e9 / (span * (1 - math.Exp(-max(age, youngest)/span)))
}

// average is counts a second, over nanoseconds.
func average(c *dissect.Counts, span float64) Rates {
	k := 1e9 / max(span, 1)
	at := func(n int64) float64 { return float64(n) * k }
	return Rates{at(c.Packets), at(c.PayloadBytes), at(c.Lost), at(c.Retransmitted), at(c.Naks), at(c.RNRNaks), at(c.Timeouts), at(c.CEMarked), at(c.CNPs)}
}

// since is what came to a since b. What shrank counts as nothing.
func since(a, b *dissect.Counts) dissect.Counts {
	d := dissect.Counts{}
	for _, n := range [...]struct {
		to        *int64
		now, then int64
	}{
		{&d.Packets, a.Packets, b.Packets}, {&d.PayloadBytes, a.PayloadBytes, b.PayloadBytes}, {&d.Lost, a.Lost, b.Lost},
		{&d.Retransmitted, a.Retransmitted, b.Retransmitted}, {&d.Naks, a.Naks, b.Naks}, {&d.RNRNaks, a.RNRNaks, b.RNRNaks},
		{&d.Timeouts, a.Timeouts, b.Timeouts}, {&d.CEMarked, a.CEMarked, b.CEMarked}, {&d.CNPs, a.CNPs, b.CNPs},
	} {
		*n.to = max(0, n.now-n.then)
	}
	return d
}
