package main

import (
	"bytes"
	"encoding/json"

	"github.com/rdmadump/rdmadump/codec"
)

// resendBooks takes the truth of a run, and tells resends that were needed from
// those that were not: a copy is redundant if an earlier one arrived intact.
type resendBooks struct {
	rest    []byte // a line that is not complete yet
	packets map[packetKey]*copyCount
}

type packetKey struct {
	Src, DestQP string
	response    bool
	psn         uint32
}

type copyCount struct{ sent, arrived int } // how many, and the first that arrived intact, 0 for none

// Write takes lines of the truth.
func (b *resendBooks) Write(p []byte) (int, error) {
	b.rest = append(b.rest, p...)
	for {
		line, rest, whole := bytes.Cut(b.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if err := b.book(line); err != nil {
			return 0, err
		}
		b.rest = rest
	}
}

func (b *resendBooks) book(text []byte) error {
	var l struct {
		Src, DestQP, Fate string
		Opcode            codec.Opcode
		PSN               uint32
		Copy              int
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	v := l.Opcode.Verb()
	if l.Opcode.Service() == codec.UD || v == codec.VerbNone || v == codec.VerbAck || v == codec.VerbAtomicAck {
		return nil
	}
	if b.packets == nil {
		b.packets = map[packetKey]*copyCount{}
	}
	key := packetKey{l.Src, l.DestQP, v == codec.VerbReadResponse, l.PSN}
	c := b.packets[key]
	if c == nil {
		c = &copyCount{}
		b.packets[key] = c
	}
	c.sent++
	if (l.Fate == "arrived" || l.Fate == "duplicated") && (c.arrived == 0 || l.Copy < c.arrived) {
		c.arrived = l.Copy
	}
	return nil
}

// sums are the resends of the whole run.
func (b *resendBooks) sums() (needed, redundant int64) {
	for _, c := range b.packets {
		if c.arrived > 0 {
			redundant += int64(c.sent - c.arrived)
			needed += int64(c.arrived - 1)
		} else {
			needed += int64(c.sent - 1)
		}
	}
	return needed, redundant
}
