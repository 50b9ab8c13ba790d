package top

import (
	"bytes"
	"strings"

	"github.com/rdmadump/rdmadump/dissect"
)

// Find chooses connections by words, all of which must fit one of their ends: a
// QPN (0x000222 or 546), an address, a network (192.0.2.0/24), or a part of an
// address as it is typed. The zero Find takes all.
type Find struct {
	text  string
	words []word
}

// word is what a word may mean.
type word struct {
	text  string
	qpn   dissect.QPN
	isQPN bool
	host  dissect.Host
	isNet bool
}

// ParseFind takes what a user types. There is nothing that it does not take.
func ParseFind(text string) Find {
	f := Find{text: text}
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		w := word{text: strings.ToLower(field)}
		if n, err := dissect.ParseQPN(field); err == nil {
			w.qpn, w.isQPN = n, true
		}
		if h, err := dissect.ParseHost(field); err == nil {
			w.host, w.isNet = h, true
		}
		f.words = append(f.words, w)
	}
	return f
}

// takes reports whether the row fits.
func (f *Find) takes(r *Row) bool {
	for i := range f.words {
		if w := &f.words[i]; !w.fits(&r.A) && !w.fits(&r.B) {
			return false
		}
	}
	return true
}

// fits reports whether a word is about an end.
func (w *word) fits(e *dissect.SnapshotEnd) bool {
	switch {
	case w.isQPN && e.Known && e.QPN == w.qpn, w.isNet && w.host.Has(e.Address):
		return true
	case strings.HasPrefix(w.text, "0x"):
		return e.Known && w.isQPN && len(w.text) <= 8 && e.QPN>>(4*(8-len(w.text))) == w.qpn
	case w.isNet: // a whole one
		return false
	}
	var buffer [48]byte
	rest, found := bytes.CutPrefix(e.Address.AppendTo(buffer[:0]), []byte(w.text))
	if w.isQPN { // so that 19 is not all of 192.0.2.0/24 too
		return found && len(rest) > 0 && rest[0] == '.'
	}
	return found
}
