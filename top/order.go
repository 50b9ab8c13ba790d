package top

import (
	"cmp"
	"errors"
	"strings"

	"github.com/rdmadump/rdmadump/dissect"
)

// Order is what rows are sorted by, the largest first.
type Order int

// The orders.
const (
	ByTrouble Order = iota
	ByPackets
	ByLost
	ByResent
	ByNaks
	ByRNRNaks
	ByTimeouts
	ByCNPs
	ByRTT
	ByAge // the newest packet first
	ByAddress
	orders
)

var orderNames = [orders]string{"trouble", "packets", "lost", "resent", "nak", "rnr", "timeout", "cnp", "rtt", "age", "address"}

// String is the value of --sort.
func (o *Order) String() string { return orderNames[*o] }

// Type stands for the value in help.
func (o *Order) Type() string { return "column" }

// Set takes one of the names.
func (o *Order) Set(s string) error {
	for i, name := range orderNames {
		if name == s {
			*o = Order(i)
			return nil
		}
	}
	return errors.New("want one of " + strings.Join(orderNames[:], ", "))
}

// compare is negative where a comes before b. Totals says to go by what came so
// far, not by rates.
func (o Order) compare(a, b *Row, totals bool) int {
	n := 0
	by := func(rate func(r *Row) float64, total func(c *dissect.Counts) int64) {
		if totals {
			n = cmp.Compare(total(&b.Total), total(&a.Total))
			return
		}
		n = cmp.Compare(rate(b), rate(a))
	}
	switch o {
	case ByPackets:
		by(func(r *Row) float64 { return r.Rates.Packets }, func(c *dissect.Counts) int64 { return c.Packets })
	case ByLost:
		by(func(r *Row) float64 { return r.Rates.Lost }, func(c *dissect.Counts) int64 { return c.Lost })
	case ByResent:
		by(func(r *Row) float64 { return r.Rates.Resent }, func(c *dissect.Counts) int64 { return c.Retransmitted })
	case ByNaks:
		by(func(r *Row) float64 { return r.Rates.Naks }, func(c *dissect.Counts) int64 { return c.Naks })
	case ByRNRNaks:
		by(func(r *Row) float64 { return r.Rates.RNRNaks }, func(c *dissect.Counts) int64 { return c.RNRNaks })
	case ByTimeouts:
		by(func(r *Row) float64 { return r.Rates.Timeouts }, func(c *dissect.Counts) int64 { return c.Timeouts })
	case ByCNPs:
		by(func(r *Row) float64 { return r.Rates.CNPs + r.Rates.CEMarked }, func(c *dissect.Counts) int64 { return c.CNPs + c.CEMarked })
	case ByRTT:
		n = cmp.Compare(b.RTT, a.RTT)
	case ByAge:
		n = cmp.Compare(b.Last, a.Last)
	case ByAddress:
		n = cmp.Or(a.A.Address.Compare(b.A.Address), a.B.Address.Compare(b.B.Address), cmp.Compare(a.B.QPN, b.B.QPN))
	}
	if n != 0 {
		return n
	}
	return cmp.Or(cmp.Compare(b.Trouble, a.Trouble), cmp.Compare(points(&b.Total), points(&a.Total)),
		cmp.Compare(b.Total.Packets, a.Total.Packets), cmp.Compare(a.Key, b.Key))
}
