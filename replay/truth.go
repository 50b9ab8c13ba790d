package replay

import (
	"io"
	"strconv"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// flight is a copy on its way, and what became of it.
type flight struct {
	stream  *stream
	ordinal int64 // of the copy in its stream
	under   int   // packets of it that have not arrived
	key     key
	opcode  codec.Opcode
	psn     psn.PSN
	copy    int
	sent    int64 // nanoseconds since the first frame

	here      bool
	arrived   int64
	intact    int
	damaged   bool
	marked    bool
	reordered bool
}

// truth writes what became of every copy, a line of JSON each.
type truth struct {
	w io.Writer
	b []byte
}

const truthSize = 64 << 10

func (t *truth) tell(c *flight) error {
	b := append(t.b, `{"src":"`...)
	b = c.key.src.AppendTo(b)
	b = append(b, `","dst":"`...)
	b = c.key.dst.AppendTo(b)
	b = append(b, `","destqp":"`...)
	b = append(b, dissect.QPN(c.key.destQP).String()...)
	b = append(b, `","opcode":`...)
	b = strconv.AppendUint(b, uint64(c.opcode), 10)
	b = append(b, `,"psn":`...)
	b = strconv.AppendUint(b, uint64(c.psn), 10)
	b = append(b, `,"copy":`...)
	b = strconv.AppendInt(b, int64(c.copy), 10)
	b = append(b, `,"sent_ns":`...)
	b = strconv.AppendInt(b, c.sent, 10)
	switch {
	case c.intact > 1:
		b = append(b, `,"fate":"duplicated","link":null`...)
	case c.intact == 1:
		b = append(b, `,"fate":"arrived","link":null`...)
	case c.damaged:
		b = append(b, `,"fate":"damaged","link":null`...)
	default:
		b = append(b, `,"fate":"lost","link":"replay"`...)
	}
	b = append(b, `,"arrived_ns":`...)
	if c.here {
		b = strconv.AppendInt(b, c.arrived, 10)
	} else {
		b = append(b, "null"...)
	}
	if c.reordered {
		b = append(b, `,"reordered":true`...)
	}
	if c.marked {
		b = append(b, `,"marked":true`...)
	}
	t.b = append(b, "}\n"...)
	if len(t.b) > truthSize {
		return t.flush()
	}
	return nil
}

func (t *truth) flush() error {
	_, err := t.w.Write(t.b)
	t.b = t.b[:0]
	return err
}
