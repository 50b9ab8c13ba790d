package sim

import (
	"errors"
	"slices"
	"strings"

	"github.com/rdmadump/rdmadump/transport"
)

// Carrier is what packets travel in.
type Carrier string

// The carriers.
const (
	CarrierIPv4   Carrier = "ipv4"   // RoCEv2
	CarrierIPv6   Carrier = "ipv6"   // RoCEv2
	CarrierRoCEv1 Carrier = "rocev1" // GRH behind Ethernet
	CarrierIB     Carrier = "ib"     // InfiniBand
	CarrierIBGRH  Carrier = "ib-grh" // InfiniBand with a GRH
)

// UnmarshalText takes the name of a carrier.
func (c *Carrier) UnmarshalText(b []byte) error {
	return choose(c, b, CarrierIPv4, CarrierIPv6, CarrierRoCEv1, CarrierIB, CarrierIBGRH)
}

// Verb is what a work request asks for, as transport.Verb spells it.
type Verb string

var verbs = func() (all []Verb) {
	for v := transport.Send; v <= transport.FetchAdd; v++ {
		all = append(all, Verb(v.String()))
	}
	return all
}()

// VerbNames are the names of all verbs.
func VerbNames() (names []string) {
	for _, v := range verbs {
		names = append(names, string(v))
	}
	return names
}

// UnmarshalText takes the name of a verb.
func (v *Verb) UnmarshalText(b []byte) error { return choose(v, b, verbs...) }

// verb is the verb of that name.
func (v Verb) verb() transport.Verb { return transport.Verb(max(slices.Index(verbs, v), 0)) }

// End is one of the two hosts.
type End string

// The ends.
const (
	FromSender   End = "sender"
	FromReceiver End = "receiver"
)

// UnmarshalText takes the name of an end.
func (e *End) UnmarshalText(b []byte) error { return choose(e, b, FromSender, FromReceiver) }

// Order is how a queue pair posts several kinds of work.
type Order string

// The orders.
const (
	InTurn Order = "in-turn" // one kind after the other
	Mixed  Order = "mixed"   // at random, each kind as often as it has messages left
)

// UnmarshalText takes the name of an order.
func (o *Order) UnmarshalText(b []byte) error { return choose(o, b, InTurn, Mixed) }

// Arbitration is how queue pairs share a port.
type Arbitration string

// The arbitrations; all are round robin among equals.
const (
	ResendsFirst Arbitration = "resends-first" // answers, then resends, then new data
	Fair         Arbitration = "fair"          // whatever a queue pair has, in its turn
)

// UnmarshalText takes the name of an arbitration.
func (a *Arbitration) UnmarshalText(b []byte) error { return choose(a, b, ResendsFirst, Fair) }

// Model is how a Pick chooses packets.
type Model string

// The models.
const (
	Bernoulli      Model = "bernoulli"       // each with the same probability
	GilbertElliott Model = "gilbert-elliott" // two states, each with its probability
	Nth            Model = "nth"             // by number
	Burst          Model = "burst"           // a run of packets, once or again and again
	ByPSN          Model = "psn"             // by PSN and copy
	Outage         Model = "outage"          // all of a time
)

// UnmarshalText takes the name of a model.
func (m *Model) UnmarshalText(b []byte) error {
	return choose(m, b, Bernoulli, GilbertElliott, Nth, Burst, ByPSN, Outage)
}

// Only is a kind of packets. The empty one is all.
type Only string

// The kinds.
const (
	OnlyData      Only = "data"      // requests and READ responses
	OnlyRequests  Only = "requests"  // what a requester sends, but for acknowledgements
	OnlyResponses Only = "responses" // READ responses
	OnlyAcks      Only = "acks"      // acknowledgements of every kind
)

// UnmarshalText takes the name of a kind.
func (o *Only) UnmarshalText(b []byte) error {
	return choose(o, b, OnlyData, OnlyRequests, OnlyResponses, OnlyAcks)
}

// choose sets what to the text, if that is among the values.
func choose[T ~string](what *T, text []byte, values ...T) error {
	if !slices.Contains(values, T(text)) {
		return errors.New("want " + list(values))
	}
	*what = T(text)
	return nil
}

// list names values: "a, b or c".
func list[T ~string](values []T) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i > 0 && i == len(values)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(v))
	}
	return b.String()
}
