package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/dissect"
)

// stated is what the user says of connections, in place of what the capture
// shows.
type stated struct {
	pairs  pairs
	assume transport
	side   tap
}

// register adds the flags to a command.
func (s *stated) register(command *cobra.Command) {
	f := command.Flags()
	f.Var(&s.pairs, "pair", "two `ends` that talk to each other, SRC/QPN=DST/QPN, whatever the capture says; may be repeated")
	f.Var(&s.assume, "assume", "take all connections for this `transport`: go-back-n, irn, windowless or mp-rdma")
	f.Var(&s.side, "side", "`where` the capture point is: sender (next to the end that asked first), receiver or middle; found out from times if not given, and used to tell which times to trust")
}

// fill completes a configuration.
func (s *stated) fill(c *dissect.Config) {
	c.Pairs, c.Assume, c.Tap = s.pairs, string(s.assume), dissect.Tap(s.side)
}

// missed says which ends of pairs the capture shows no packet to.
func (s *stated) missed(std streams, r *dissect.Report) {
	if r.Evicted != nil {
		return // it may have been dropped
	}
	for _, u := range r.UnmatchedPairs {
		p := u.Ends
		if shown := r.Selection; shown != nil && len(shown.QPNs) > 0 && !slices.Contains(shown.QPNs, p[0].QPN) && !slices.Contains(shown.QPNs, p[1].QPN) {
			continue // its connection is not in the report
		}
		text := fmt.Sprintf("--pair %s=%s", spelled(p[0]), spelled(p[1]))
		switch len(u.Silent) {
		case 2:
			std.complain(fmt.Errorf("%s matches nothing: no packet goes between these ends", text))
		case 1:
			std.complain(fmt.Errorf("%s matches one direction only: no packet goes to %s", text, spelled(u.Silent[0])))
		default:
			std.complain(fmt.Errorf("%s matches both directions, but in different networks", text))
		}
	}
}

func spelled(e dissect.End) string { return fmt.Sprintf("%v/%v", e.Address, e.QPN) }

// pairs is the value of --pair.
type pairs []dissect.Pair

func (p *pairs) String() string { return "" }
func (p *pairs) Type() string   { return "ends" }

// Set takes one pair.
func (p *pairs) Set(s string) error {
	pair, err := dissect.ParsePair(s)
	if err != nil {
		return err
	}
	*p = append(*p, pair)
	return nil
}

// transport is the value of --assume.
type transport string

func (t *transport) String() string { return string(*t) }
func (t *transport) Type() string   { return "transport" }

// Set takes the name of a transport.
func (t *transport) Set(s string) error { return oneOf((*string)(t), s, dissect.Transports()) }

// tap is the value of --side.
type tap string

func (t *tap) String() string { return string(*t) }
func (t *tap) Type() string   { return "where" }

// Set takes the name of a side.
func (t *tap) Set(s string) error {
	return oneOf((*string)(t), s, []string{string(dissect.TapSender), string(dissect.TapReceiver), string(dissect.TapMiddle)})
}

// oneOf sets a value that must be one of a few words.
func oneOf(value *string, s string, words []string) error {
	if !slices.Contains(words, s) {
		last := len(words) - 1
		return fmt.Errorf("want %s or %s", strings.Join(words[:last], ", "), words[last])
	}
	*value = s
	return nil
}
