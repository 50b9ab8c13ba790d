package transporttest

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// Where the two memories begin.
const (
	LocalBase  = 0x10_0000_0000
	RemoteBase = 0x7f00_0000_0000
	rkey       = 0x1ee7
	cells      = 3 // 8-byte places that atomics work on
)

// Workload is work for a queue pair, and what must come of it.
type Workload struct {
	Requester transport.QP
	Responder transport.QP
	Work      []transport.WorkRequest // IDs count from 0
	Local     *Memory
	Remote    *Memory
	Completed []transport.Completion

	want []content
	post func(transport.WorkRequest) error
	left int // work that is not posted yet
}

// content is what a place must hold when all is done.
type content struct {
	memory *Memory
	va     uint64
	bytes  []byte
	of     string
}

// Draw gives a number from lo to hi, both inclusive: what a rapid.T or a seeded
// generator draws.
type Draw func(label string, lo, hi int) int

// Message is what a message of a workload is to be.
type Message struct {
	Verb   transport.Verb
	Length int // not used by atomics
}

// DrawMessages makes up to most messages of any verb and of up to packets
// packets.
func DrawMessages(draw Draw, most, packets, mtu int) []Message {
	all := make([]Message, draw("messages", 1, most))
	for i := range all {
		n := draw("packets", 0, packets)
		all[i] = Message{transport.Verb(draw("verb", 0, int(transport.FetchAdd))), max(0, n*mtu-draw("short by", 0, 5))}
	}
	return all
}

// NewWorkload lays messages out in two memories. The queue pair is set up alike
// at both ends, as qp says, but for Memory and Complete; the local data is made
// by a fixed generator.
func NewWorkload(qp transport.QP, messages []Message) *Workload {
	const cellBytes = 8 * cells
	slot, total, receives := 0, 0, 0
	for _, m := range messages {
		if m.Verb <= transport.SendInv {
			slot = max(slot, m.Length)
		}
		if m.Verb <= transport.SendInv || m.Verb == transport.WriteImm {
			receives++
		}
		total += max(m.Length, 8)
	}
	w := &Workload{
		Local:  NewMemory(LocalBase, 0, total),
		Remote: NewMemory(RemoteBase, rkey, cellBytes+total+receives*slot),
		left:   len(messages),
	}
	w.Requester, w.Responder = qp, qp
	w.Requester.Memory, w.Responder.Memory = w.Local, w.Remote
	w.Requester.Complete = w.complete
	noise(w.Local.Bytes, 1)
	noise(w.Remote.Bytes[cellBytes:], 2)
	w.Remote.Receives = make([]uint64, receives)
	for i := range w.Remote.Receives {
		w.Remote.Receives[i] = RemoteBase + uint64(cellBytes+total+i*slot)
	}
	var cell [cells]uint64
	local, remote, receive := uint64(LocalBase), uint64(RemoteBase+cellBytes), 0
	for i, m := range messages {
		r := transport.WorkRequest{ID: uint64(i), Verb: m.Verb, Local: local, Remote: remote, RKey: rkey, Length: uint32(m.Length), Imm: uint32(i)}
		of := fmt.Sprintf("message %d, %s of %d bytes", i, m.Verb, m.Length)
		data := bytes.Clone(w.Local.At(local, m.Length))
		switch m.Verb {
		case transport.Send, transport.SendImm, transport.SendInv:
			w.want = append(w.want, content{w.Remote, w.Remote.Receives[receive], data, of})
			receive++
		case transport.WriteImm:
			receive++
			w.want = append(w.want, content{w.Remote, remote, data, of})
		case transport.Write:
			w.want = append(w.want, content{w.Remote, remote, data, of})
		case transport.Read:
			w.want = append(w.want, content{w.Local, local, bytes.Clone(w.Remote.At(remote, m.Length)), of})
		case transport.CmpSwap, transport.FetchAdd:
			c := i % cells
			r.Length, r.Remote, r.Swap = 8, RemoteBase+8*uint64(c), uint64(i)*0x1_0000_0001+3
			found := binary.LittleEndian.AppendUint64(nil, cell[c])
			w.want = append(w.want, content{w.Local, local, found, of})
			if m.Verb == transport.FetchAdd {
				cell[c] += r.Swap
			} else if r.Compare = cell[c] + uint64(i&1); i&1 == 0 { // each second one does not match
				cell[c] = r.Swap
			}
		}
		w.Work = append(w.Work, r)
		step := uint64(max(m.Length, 8))
		local, remote = local+step, remote+step
	}
	for i, v := range cell {
		w.want = append(w.want, content{w.Remote, RemoteBase + 8*uint64(i), binary.LittleEndian.AppendUint64(nil, v), "atomics"})
	}
	return w
}

// PostAll posts all work at once.
func (w *Workload) PostAll(post func(transport.WorkRequest) error) error {
	return w.PostUpTo(len(w.Work), post)
}

// PostUpTo keeps so many requests posted, the next as one completes. It must be
// called once, before the run.
func (w *Workload) PostUpTo(depth int, post func(transport.WorkRequest) error) error {
	w.post = post
	for range depth {
		if err := w.postNext(); err != nil {
			return err
		}
	}
	return nil
}

func (w *Workload) postNext() error {
	if w.left == 0 {
		return nil
	}
	w.left--
	return w.post(w.Work[len(w.Work)-w.left-1])
}

// complete is told of each completion.
func (w *Workload) complete(c transport.Completion) {
	w.Completed = append(w.Completed, c)
	if err := w.postNext(); err != nil {
		panic(err)
	}
}

// Packets is how many PSNs the work takes in the standard form.
func (w *Workload) Packets() int {
	n := 0
	for i := range w.Work {
		n += w.Work[i].Packets(w.Requester.MTU)
	}
	return n
}

// Last is the last PSN that the work takes in the standard form.
func (w *Workload) Last() psn.PSN { return w.Requester.StartPSN.Add(w.Packets() - 1) }

// Check says what is wrong when all should be done: each request complete with
// success, once and in order, bytes where they belong, atomics executed once,
// each receive taken.
func (w *Workload) Check() error {
	for i, c := range w.Completed {
		if c.ID != uint64(i) || c.Status != transport.Success {
			return fmt.Errorf("completion %d is of request %d with status %d", i, c.ID, c.Status)
		}
	}
	if len(w.Completed) != len(w.Work) {
		return fmt.Errorf("%d of %d requests complete", len(w.Completed), len(w.Work))
	}
	return w.CheckContent()
}

// CheckContent is the part of Check that looks at the memories.
func (w *Workload) CheckContent() error {
	for _, c := range w.want {
		if got := c.memory.At(c.va, len(c.bytes)); !bytes.Equal(got, c.bytes) {
			return fmt.Errorf("%s: wrong bytes at %#x", c.of, c.va)
		}
	}
	atomics := 0
	for i := range w.Work {
		if v := w.Work[i].Verb; v == transport.CmpSwap || v == transport.FetchAdd {
			atomics++
		}
	}
	if w.Remote.Atomics != atomics {
		return fmt.Errorf("%d atomics executed %d times", atomics, w.Remote.Atomics)
	}
	if w.Remote.Taken != len(w.Remote.Receives) {
		return fmt.Errorf("%d of %d receives taken", w.Remote.Taken, len(w.Remote.Receives))
	}
	return nil
}

// noise fills b with bytes that do not repeat soon (xorshift).
func noise(b []byte, seed uint64) {
	x := seed * 0x9e3779b97f4a7c15
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32)
	}
}
