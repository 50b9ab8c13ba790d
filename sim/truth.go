package sim

import (
	"io"
	"strconv"
)

// truth writes what became of every copy, a line of JSON each (docs/output.md).
type truth struct {
	w   io.Writer
	b   []byte
	err error
}

const truthSize = 64 << 10

// tell writes what became of a copy.
func (r *run) tell(f *flight) {
	e := f.fate
	switch {
	case e.intact > 1:
		r.result.Duplicated++
	case e.intact == 1:
	case e.damaged > 0:
		r.result.Damaged++
	default:
		r.result.Lost++
	}
	if e.reordered {
		r.result.Reordered++
	}
	t := r.truth
	if t == nil {
		return
	}
	b := append(t.b, `{"src":"`...)
	b = f.from.shown.AppendTo(b)
	b = append(b, `","dst":"`...)
	b = f.from.peer.shown.AppendTo(b)
	b = append(b, `","destqp":"`...)
	b = appendQPN(b, f.packet.BTH.DestQP)
	b = append(b, `","opcode":`...)
	b = strconv.AppendUint(b, uint64(f.packet.BTH.Opcode), 10)
	b = append(b, `,"psn":`...)
	b = strconv.AppendUint(b, uint64(f.packet.BTH.PSN), 10)
	b = append(b, `,"copy":`...)
	b = strconv.AppendInt(b, int64(f.copy), 10)
	b = append(b, `,"sent_ns":`...)
	b = strconv.AppendInt(b, int64(f.sent), 10)
	switch {
	case e.intact > 1:
		b = append(b, `,"fate":"duplicated","link":null`...)
	case e.intact == 1:
		b = append(b, `,"fate":"arrived","link":null`...)
	case e.damaged > 0:
		b = append(b, `,"fate":"damaged","link":null`...)
	default:
		b = append(b, `,"fate":"lost","link":`...)
		b = strconv.AppendQuote(b, e.link)
	}
	b = append(b, `,"arrived_ns":`...)
	if e.intact+e.damaged > 0 {
		b = strconv.AppendInt(b, int64(e.arrived), 10)
	} else {
		b = append(b, "null"...)
	}
	if e.reordered {
		b = append(b, `,"reordered":true`...)
	}
	t.b = append(b, "}\n"...)
	if len(t.b) > truthSize {
		t.flush()
	}
}

func (t *truth) flush() {
	if t != nil && t.err == nil {
		_, t.err = t.w.Write(t.b)
		t.b = t.b[:0]
	}
}

// appendQPN appends "0x000011", as dissect.QPN has it.
func appendQPN(b []byte, qpn uint32) []byte {
	b = append(b, "0x"...)
	for shift := 20; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[qpn>>shift&15])
	}
	return b
}
