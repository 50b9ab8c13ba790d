package conform

import (
	"errors"
	"fmt"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/transport"
)

// Config says what to check.
type Config struct {
	Rules RuleSet

	// Found is called for each violation as soon as it is certain. What it is
	// given is the caller's.
	Found func(*Violation)

	// Tap is where the capture point is, if that is stated, as dissect.Config has
	// it; suspicions then need not wait.
	Tap dissect.Tap

	// Thresholds are those of windowless responders, where they are known.
	Thresholds Thresholds

	// Cap is how many packets an IRN sender may have in flight (BDP-FC), and Slots
	// how many an MP-RDMA responder has room for out of order; 0 is unknown.
	Cap, Slots int

	// Files says that several captures are read, so that frames need a file.
	Files bool
}

// Checker judges packets against the rules. It is not safe for concurrent use.
type Checker struct {
	config Config
	packet transport.Packet
	reply  transport.Packet
	models int     // that run
	doubts []*flow // flows with suspicions
	nDoubt int     // suspicions of all flows
	nPaths int     // flows with packets of MP-RDMA

	nArrivals int // flows whose arrivals are followed
	f         *dissect.Followed
	sent      order // when the feedback at hand was sent
}

// NewChecker makes a checker.
func NewChecker(c Config) *Checker { return &Checker{config: c} }

// Follow takes a packet that an Analyzer has followed. It is what
// dissect.Config.Follow is to be.
func (c *Checker) Follow(f *dissect.Followed) {
	c.f = f
	p := &c.packet
	err := p.Decode(f.Packet.Transport(), f.Packet.WireLen)
	p.Path, p.CE = f.Packet.SrcPort, f.Packet.Traffic&dissect.ECNMask == dissect.ECNCE
	if f.Damaged {
		c.damaged()
		return
	}
	if !f.Sent.Valid() && f.ICRC == dissect.ICRCBad {
		return // nothing it says can be trusted
	}
	if c.shape(err) && err != nil {
		return
	}
	if err != nil && !errors.Is(err, codec.ErrTruncated) {
		return
	}
	if f.Role == dissect.Aside {
		if f.Sent.Valid() {
			c.misplaced()
		}
		return
	}
	w := c.flowOf(f.Flow)
	if f.Role != dissect.ReadFeedback && !(f.Role == dissect.ReadResponse && f.BTH.Opcode.Service() == codec.IRN) && f.Epoch != w.epoch {
		w.begin(f.Epoch)
	}
	w.handle = f.Flow
	switch f.Role {
	case dissect.Request:
		c.request(w)
	case dissect.Acknowledges:
		c.sent = w.order.older(f.Packet.IPID)
		c.comes(w)
		c.acknowledges(w)
		c.extensionSays(w)
	case dissect.ReadResponse:
		w.order.older(f.Packet.IPID)
		c.readResponse(w)
	}
}

// End says that no more packets come: what is open is judged as it stands.
func (c *Checker) End() {
	all := c.doubts
	c.doubts = nil
	for _, w := range all {
		c.settle(w)
	}
}

// Leave takes a flow that the Analyzer lets go: what is open is judged as it
// stands. It is what dissect.Config.Leave is to be.
func (c *Checker) Leave(f dissect.Flow) {
	w, ok := (*f.Note()).(*flow)
	if !ok {
		return
	}
	w.begin(0)
	c.unlist(w)
	*f.Note() = nil
}

// flowOf is what is kept of a flow.
func (c *Checker) flowOf(h dissect.Flow) *flow {
	note := h.Note()
	if w, ok := (*note).(*flow); ok {
		return w
	}
	w := &flow{handle: h, c: c}
	*note = w
	return w
}

// misplaced follows a packet whose PSN nobody can place: what is known of its flow
// may have a hole there, or what was said of the requests of the other end.
func (c *Checker) misplaced() {
	if c.f.BTH.Opcode.Response() {
		c.flowOf(c.f.Sent).mute = c.f.Packet.Number
		if r := c.f.Sent.Reverse(); r.Valid() {
			if w, ok := (*r.Note()).(*flow); ok {
				w.unheard()
			}
		}
	} else if w, ok := (*c.f.Sent.Note()).(*flow); ok {
		w.rejoin()
	}
}

// heardAll reports whether all that was said of the requests of a flow since a
// frame could be placed.
func (w *flow) heardAll(since int) bool {
	r := w.handle.Reverse()
	if !r.Valid() {
		return false
	}
	other, ok := (*r.Note()).(*flow)
	return !ok || other.mute < since
}

// found reports that the packet at hand breaks a rule, as frames before it show.
func (c *Checker) found(w *flow, r ruleID, s Severity, text string, frames ...int) {
	if !c.config.Rules.has(r) {
		return
	}
	v := c.violation(w, r, s, text, frames)
	if w != nil && (r.goBackN() && !w.plain && w.handle.Transport() == "go-back-n" || r.paired() && w.handle.Rivals()) {
		c.hold(w, doubt{Violation: v, rule: r, kind: ifSo})
		return
	}
	c.config.Found(&v)
}

func (c *Checker) violation(w *flow, r ruleID, s Severity, text string, frames []int) Violation {
	v := Violation{Rule: rules[r].Name, Severity: s, Text: text, Frames: make([]int, 0, len(frames)+1)}
	for _, frame := range append(frames, c.f.Packet.Number) {
		if frame > 0 && (len(v.Frames) == 0 || v.Frames[len(v.Frames)-1] != frame) {
			v.Frames = append(v.Frames, frame)
		}
	}
	if c.config.Files {
		file := c.f.Packet.File
		v.File = &file
	}
	v.Src, v.Dst, v.DestQP = c.f.Packet.Src, c.f.Packet.Dst, dissect.QPN(c.f.BTH.DestQP)
	switch {
	case w != nil:
		v.Connection = w.handle.Connection()
		v.Src, v.Dst, v.DestQP = w.handle.Ends()
	case c.f.Sent.Valid():
		v.Connection = c.f.Sent.Connection()
	}
	return v
}

// say is fmt.Sprintf, short, since texts are many.
func say(format string, values ...interface{}) string { return fmt.Sprintf(format, values...) }
