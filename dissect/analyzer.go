package dissect

import (
	"io"

	"github.com/rdmadump/rdmadump/codec"
)

// Config says how to analyse. The zero Config is safe.
type Config struct {
	Locator Locator

	MaxGaps       int    // gaps a stream keeps for the report, the worst; 0 is DefaultMaxGaps
	MaxHalves     int    // halves followed at a time; 0 is 131,072
	ReorderedGaps bool   // gaps that were late packets are reported too
	Pairs         []Pair // ends that talk to each other, whatever the capture says
	Assume        string // transport of all connections, one of Transports; "" is for recognising it
	Tap           Tap    // where the capture point is; "" is for finding it out
	ByVLAN        bool   // the VLAN tells halves apart
	ByVNI         bool   // the VXLAN, GENEVE or NVGRE network tells halves apart

	// Selection is what to analyse; nil is everything. Packets outside its time
	// and hosts are passed over, though their frames count. QPNs and Packets choose
	// among the connections at the end, once the pairs are known. It may be completed
	// up to the first frame.
	Selection *Selection

	// Events is called for each event as soon as it is known; nil for none.
	// What it is given is valid until it returns.
	Events func(*Event)

	// Follow is called for each RDMA packet once it has been followed; nil for
	// none. What it is given is valid until it returns, but for the Flows.
	Follow func(*Followed)

	// Leave is called for a flow that is let go before the end, nil for nothing:
	// a limit was met, or it was idle. Its Note goes with it.
	Leave func(Flow)
}

// Analyzer follows the packets of captures and explains what was lost. It is
// not safe for concurrent use.
type Analyzer struct {
	config    Config
	captures  []input
	table     halfTable
	halves    []*half // in order of appearance
	between   map[ends]*neighbours
	nursery   nursery
	recent    *recent
	totals    Totals
	pauses    flowControl
	evicted   Evicted
	retired   Totals    // of selected halves that were evicted or idle
	gone      Counts    // of them and of idle ones, for Retired
	weight    int64     // of all halves, bytes
	gapLimit  int       // closed gaps that a stream keeps, MaxGaps or fewer
	room      worstRoom // to find the worst of them in
	gapsKept  int       // closed, by all streams
	gapsOpen  int       // not retired, of all streams
	inLimbo   int       // packets, see restart.go
	effort    int64     // steps taken for packets, of all streams, see effort.go
	looks     int64     // at halves that may be partners
	asides    tallies
	unbegun   flow                // of streams that have not begun; stays empty
	uncourted courtship           // of halves whose partner nobody looks for; stays empty
	stated    map[halfKey]halfKey // Config.Pairs

	packet Packet
	bth    codec.BTH
	in     arrival

	followed Followed

	here    sight // of the newest packet
	start   int64 // earliest time of a frame
	last    int64 // latest
	started bool
	nHalves uint32
	numbers int32 // connections numbered so far
	hand    int   // of the clock that looks for a half to evict
	cm      connectionManagement
}

// input is a capture and whether it is read still.
type input struct {
	Capture
	closed bool
	before int64 // time of the frame before
}

// DefaultMaxGaps is how many gaps a stream keeps unless Config says otherwise.
const DefaultMaxGaps = 1000

// NewAnalyzer makes an analyzer.
func NewAnalyzer(c Config) *Analyzer {
	if c.MaxGaps <= 0 {
		c.MaxGaps = DefaultMaxGaps
	}
	if c.MaxHalves <= 0 {
		c.MaxHalves = 1 << 17
	}
	return &Analyzer{config: c, gapLimit: c.MaxGaps, table: newHalfTable(), stated: stated(c.Pairs),
		between: map[ends]*neighbours{}, recent: new(recent)}
}

// OpenCapture begins an input and returns its index, which frames of it carry
// in File. name and format ("pcap", "pcapng") are for the report.
func (a *Analyzer) OpenCapture(name, format string) int {
	a.captures = append(a.captures, input{Capture: Capture{File: name, Format: format}})
	return len(a.captures) - 1
}

// CloseCapture ends an input. drops is how many frames the capture itself lost,
// as far as it says, and err why reading it stopped early: nil or io.EOF, as a
// reader ends, where it did not.
func (a *Analyzer) CloseCapture(i int, drops uint64, err error) {
	c := a.input(i)
	c.CaptureDrops += drops
	c.closed = true
	if err != nil && err != io.EOF {
		c.Error = err.Error()
	}
}

// input is the capture with the index, or the last one.
func (a *Analyzer) input(i int) *input {
	if len(a.captures) == 0 {
		a.OpenCapture("", "")
	}
	return &a.captures[min(max(i, 0), len(a.captures)-1)]
}

// Frame follows a captured frame: it finds the RDMA packet in it, if there is
// one, and follows that.
func (a *Analyzer) Frame(f *Frame) {
	c := a.input(f.File)
	a.count(c, f.Time)
	selection := a.config.Selection
	if selection != nil && !selection.during(f.Time) {
		return
	}
	switch a.config.Locator.Locate(f, &a.packet) {
	case Found:
		if selection == nil || selection.between(&a.packet) {
			a.follow(c, &a.packet)
		}
	case Cut:
		if (selection == nil || selection.between(&a.packet)) && a.packet.JudgeCut() != Implausible {
			a.cut(c, selection)
		}
	case Pause:
		if !a.pauses.again(f) {
			a.pauses.follow(a.packet.Covered)
		}
	case Fragment:
		c.Fragments++
	}
}

// cut counts a packet that was cut within its BTH, which no stream can take.
func (a *Analyzer) cut(c *input, selection *Selection) {
	c.RDMAFrames++
	if a.packet.Cut {
		c.CutFrames++
	}
	if selection == nil || selection.Takes(&a.packet) {
		a.totals.Packets++
	}
}

// Other counts a frame that is known to hold no RDMA packet.
func (a *Analyzer) Other(file int, time int64) { a.count(a.input(file), time) }

// Packet follows a packet that was located already, and counts its frame.
func (a *Analyzer) Packet(p *Packet) {
	c := a.input(p.File)
	a.count(c, p.Time)
	if s := a.config.Selection; s == nil || s.during(p.Time) && s.between(p) {
		a.follow(c, p)
	}
}

// count counts a frame. Times may run backwards: the first and the last are
// those of the clock, not of the order.
func (a *Analyzer) count(c *input, time int64) {
	c.Frames++
	if time == 0 { // not known
		return
	}
	if !a.started {
		a.start, a.last, a.started = time, time, true
	}
	a.start, a.last = min(a.start, time), max(a.last, time)
	t := Time(time)
	if c.FirstTime == 0 {
		c.FirstTime, c.LastTime = t, t
	} else if time < c.before {
		c.Backwards++
	}
	c.before = time
	c.FirstTime, c.LastTime = min(c.FirstTime, t), max(c.LastTime, t)
}

// follow takes a located packet to its half.
func (a *Analyzer) follow(c *input, p *Packet) {
	t := p.Transport()
	bth := &a.bth
	if bth.Decode(t) != nil {
		return
	}
	a.here = sight{p.Time, p.Number, p.File}
	icrc := p.ICRC()
	key := halfKey{src: p.Src, dst: p.Dst, qpn: bth.DestQP, network: a.network(p)}
	hash := a.table.hash(&key)
	var h *half
	op := bth.Opcode
	connected := op != codec.OpcodeCNP && op.Service() != codec.UD && op.Known()
	if connected {
		h = a.table.find(&key, hash)
	}
	grade := Proven
	if icrc != ICRCGood && (h == nil || icrc == ICRCBad) {
		if grade = p.Judge(bth, icrc); grade == Implausible {
			return
		}
	}
	c.RDMAFrames++
	if p.Cut && len(t) < p.WireLen {
		c.CutFrames++
	}
	if icrc == ICRCBad {
		c.BadICRC++
	}
	if a.mirrored(c, p, h, key.mark(), bth) {
		return
	}
	a.totals.Packets++
	if !connected {
		a.tellFollowed(p, nil, icrc)
		a.aside(p, bth)
		if a.narrows() {
			a.asides.aside(a.config.Selection, p, bth)
		}
		return
	}
	if h == nil {
		if h = a.newcomer(p, bth, icrc, grade, &key, hash); h == nil {
			if a.narrows() {
				a.asides.aside(a.config.Selection, p, bth)
			}
			return
		}
	}
	a.match(h, p)
	in := &a.in
	a.fillIn(in, p, bth)
	in.place = h.identified(p.IPID)
	switch icrc {
	case ICRCGood:
		h.good++
	case ICRCBad:
		h.bad++
		in.damaged = !h.uselessICRC()
	}
	h.take(in)
	if a.config.Follow != nil {
		a.tellFollowed(p, h, icrc)
	}
	if h.weighAgain() {
		a.weigh(h)
	}
}

// network is what tells halves apart beside their addresses.
func (a *Analyzer) network(p *Packet) uint32 {
	switch {
	case a.config.ByVLAN:
		return uint32(p.VLAN)
	case a.config.ByVNI:
		return p.VNI
	}
	return 0
}

// fillIn fills an arrival from a located packet.
func (a *Analyzer) fillIn(in *arrival, p *Packet, bth *codec.BTH) {
	in.number, in.file, in.time, in.sport = p.Number, p.File, p.Time, p.SrcPort
	in.ce, in.damaged, in.place = p.Traffic&ECNMask == ECNCE, false, place{}
	in.read(bth, p.Transport(), p.WireLen)
}

// mirrored reports whether the packet is a second sight of a frame that was
// seen already, and counts CE marks on the way.
func (a *Analyzer) mirrored(c *input, p *Packet, h *half, mark uint32, bth *codec.BTH) bool {
	s := sighting{time: p.Time, half: mark, psn: uint32(bth.PSN) | 1<<31, ipid: p.IPID, op: uint8(bth.Opcode),
		ce: p.Traffic&ECNMask == ECNCE}
	if bth.Opcode.Response() {
		s.psn |= 1 << 30
	}
	if n := p.BTH + p.WireLen - 4; n >= 0 && len(p.Covered) >= n+4 {
		b := p.Covered[n : n+4]
		s.icrc = uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	}
	window, asked, delay := int64(mirrorWindow), int64(0), int64(0)
	if h != nil {
		if window = h.window(); window != distinctWindow {
			asked, delay = h.askedFor(bth, p.Time)
		}
	}
	copied, remarked, age := a.recent.again(s, window, asked, delay)
	if copied {
		c.DuplicateFrames++
		if h != nil {
			h.copies++
			h.copyAge = max(h.copyAge, age)
		}
	}
	if remarked || !copied && s.ce {
		a.totals.CEMarked++
	}
	if remarked && h != nil {
		h.marked++
	}
	return copied
}

// aside counts what belongs to no half.
func (a *Analyzer) aside(p *Packet, bth *codec.BTH) {
	switch {
	case bth.Opcode == codec.OpcodeCNP:
		a.totals.CNPs++
		key := halfKey{src: p.Src, dst: p.Dst, qpn: bth.DestQP, network: a.network(p)}
		if h := a.table.find(&key, a.table.hash(&key)); h != nil {
			h.cnps++
			a.match(h, p)
		}
	case bth.Opcode.Service() == codec.UD:
		a.totals.Datagrams++
		if bth.DestQP == 1 {
			a.manage(p)
		}
	}
}

// serviceOf is the service of a half; IRN and MP-RDMA are spoken on RC.
func serviceOf(op codec.Opcode) codec.Service {
	if op.Service() == codec.IRN {
		return codec.RC
	}
	return op.Service()
}

// sender is a half that begins with a request, and the flow of its requests
// right behind it.
type sender struct {
	half half
	flow flow
}

// newHalf begins a half.
func (a *Analyzer) newHalf(key *halfKey, hash uint32, op codec.Opcode) *half {
	if a.table.n >= a.config.MaxHalves {
		a.evict(0)
	}
	a.nHalves++
	var h *half
	begun := &a.unbegun
	if op.Response() {
		h = &half{}
	} else {
		s := &sender{}
		h, begun = &s.half, &s.flow
	}
	h.key, h.hash, h.id, h.service, h.mtu, h.retries, h.rnrRetries = *key, hash, a.nHalves, serviceOf(op), anyMTU, -1, -1
	if op.Service() == codec.IRN {
		h.transport = irnTransport
		if op == codec.OpcodeMPRDMAAck || op == codec.OpcodeMPRDMANack {
			h.transport = mpRDMA
		}
	}
	if t, ok := a.config.transportStated(); ok && h.service != codec.UC && h.service != codec.RD {
		h.transport = t
	}
	h.req.a, h.req.half, h.req.flow, h.courtship = a, h, begun, &a.uncourted
	a.table.insert(h, hash)
	a.halves = append(a.halves, h)
	near := a.between[h.ends()]
	if near == nil {
		near = &neighbours{}
		a.between[h.ends()] = near
	}
	near.settleIn(h)
	a.meetStated(h)
	a.meet(h)
	return h
}

// stranger reports whether nothing but a few packets speak for a half, as for
// those that somebody made up.
func (h *half) stranger() bool { return h.partner == nil && h.packets < 4 }

// evict drops a half with what it counted: of a few that weigh enough a stranger,
// if there is one, and of those the one that rested longest.
func (a *Analyzer) evict(enough int64) {
	var oldest *half
	at := 0
	for range min(16, len(a.halves)) {
		a.hand = (a.hand + 1) % len(a.halves)
		h := a.halves[a.hand]
		switch {
		case oldest == nil:
		case (h.weight >= enough) != (oldest.weight >= enough):
			if h.weight < enough {
				continue
			}
		case h.stranger() != oldest.stranger():
			if !h.stranger() {
				continue
			}
		case h.lastTime >= oldest.lastTime:
			continue
		}
		oldest, at = h, a.hand
	}
	if oldest == nil {
		return
	}
	last := len(a.halves) - 1
	a.halves[at] = a.halves[last]
	a.halves = a.halves[:last]
	a.leave(oldest)
	a.drop(oldest)
	if p := oldest.partner; p == nil || p.gone { // else the other one goes on alone
		a.closeConnection(oldest, Dropped, a.here)
	}
	a.evicted.Halves++
	a.retire(oldest)
}

// drop takes a half out of all that leads to it but halves.
func (a *Analyzer) drop(h *half) {
	h.release()
	a.table.remove(h, h.hash)
	h.among.leave(h)
	if len(h.among.all) == 0 {
		delete(a.between, h.ends())
	}
	if p := h.partner; p != nil {
		p.partner = nil
		p.list()
	}
	h.gone = true
}

// find notes a finding once for each kind, with the frames that show it.
func (s *stream) find(kind, text, counter string, frame int) {
	d := s.recovery()
	const maxFrames = 16
	for i := range d.findings {
		f := &d.findings[i]
		if f.Kind == kind {
			if len(f.Frames) < maxFrames {
				f.Frames = append(f.Frames, frame)
			}
			return
		}
	}
	f := Finding{Kind: kind, Text: text, Counter: counter, Frames: []int{frame}}
	d.findings = append(d.findings, f)
	s.tellFinding(f, s.a.here)
}
