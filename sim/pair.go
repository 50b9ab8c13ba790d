package sim

import (
	"math/rand/v2"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// pair is a queue pair at each host.
type pair struct {
	number int // counted from 0
	qpn    [2]uint32
	start  [2]psn.PSN
	port   uint16 // UDP source port; MP-RDMA's first, the other paths count up
	rkey   [2]uint32

	flows  []*flow          // in either direction that has work
	seen   [2][kinds]copies // what each host has sent
	told   transport.Time   // when the last congestion notification was sent
	marked bool             // there was one
	comm   [2]uint32        // names of the connection for management
	ends   int              // flows that have ended
}

// requester is a machine that work can be posted to.
type requester interface {
	transport.Machine
	Post(transport.WorkRequest) error
}

// flow is the work of one direction of a pair.
type flow struct {
	run   *run
	pair  *pair
	from  int // the end that posts
	sends requester
	at    [2]*machine // requester and responder, by end

	kinds       []Work  // what is left to be posted
	left        []int64 // of each
	total       int64   // of all
	random      *rand.Rand
	outstanding int
	due         transport.Time // when the next may be posted
	posting     bool           // an event is on its way for that
	failed      bool
	ended       bool

	memory memory
}

// newPair makes the n-th pair. It begins with its event.
func (r *run) newPair(n int) *pair {
	s := r.s
	random := s.random("queue pair " + number(n))
	p := &pair{number: n, qpn: [2]uint32{s.Pairs.SenderQPN + uint32(n), s.Pairs.ReceiverQPN + uint32(n)}}
	for end := range p.start {
		p.start[end] = psn.New(random.Uint32())
		if s.Pairs.StartPSN != nil {
			p.start[end] = *s.Pairs.StartPSN
		}
		p.rkey[end] = random.Uint32()
		p.comm[end] = random.Uint32()
	}
	p.port = 0xc000 | uint16(random.Uint32())&0x3fff
	if s.Transport.Name == MPRDMA {
		p.port = min(p.port, 1<<16-mostPaths)
	}
	for end, from := range []End{FromSender, FromReceiver} {
		if f := r.newFlow(p, end, from); f != nil {
			p.flows = append(p.flows, f)
		}
	}
	return p
}

// newFlow makes the flow of the work that one end posts, nil if that is none.
func (r *run) newFlow(p *pair, end int, from End) *flow {
	s := r.s
	f := &flow{run: r, pair: p, from: end, random: s.random("work " + number(p.number) + string(from))}
	for _, w := range s.Work {
		if w.From == from && w.Count > 0 {
			f.kinds, f.left = append(f.kinds, w), append(f.left, int64(w.Count))
			f.total += int64(w.Count)
		}
	}
	if f.total == 0 {
		return nil
	}
	f.memory = newMemory(f, s)
	qp := transport.QP{
		DestQP: p.qpn[1-end], SrcQP: p.qpn[end], PKey: 0xffff, MTU: s.Pairs.MTU, StartPSN: p.start[end],
		ReadLimit: s.Pairs.ReadLimit, AckTimeout: codec.AckTimeout(s.Pairs.AckTimeout), RetryCount: s.Pairs.RetryCount,
		RNRRetryCount: s.Pairs.RNRRetryCount, RNRTimer: s.Pairs.RNRTimer,
	}
	ask, answer := qp, qp
	ask.Memory, ask.Complete, ask.Buffer = local{&f.memory}, f.complete, &r.result.Held[end]
	answer.Memory = remote{&f.memory}
	sends, takes := s.machines(end, ask, answer)
	f.sends = sends
	f.at[end], f.at[1-end] = r.newMachine(sends, end, p), r.newMachine(takes, 1-end, p)
	return f
}

func (r *run) newMachine(m transport.Machine, end int, p *pair) *machine {
	r.machines++
	if r.s.Fault != "" {
		m = &breaker{Machine: m, breach: r.s.Fault}
	}
	return &machine{Machine: m, host: &r.hosts[end], pair: p, number: r.machines, place: -1}
}

// fill posts as much as may be posted.
func (f *flow) fill() {
	depth := f.run.s.Pairs.Depth
	for f.total > 0 && f.outstanding < depth && !f.failed {
		if f.due > f.run.now {
			if !f.posting {
				f.posting = true
				f.run.schedule(f.due, post, f.pair.number)
			}
			break
		}
		f.post()
	}
	if !f.ended && (f.failed || f.total == 0) && f.outstanding == 0 {
		f.ended = true
		f.pair.ends++
		if f.pair.ends == len(f.pair.flows) {
			f.run.close(f.pair)
		}
	}
}

// wake goes on with work that had to wait for its time.
func (f *flow) wake() {
	if f.posting && f.due <= f.run.now {
		f.posting = false
		f.fill()
		f.run.touch(f.at[f.from])
	}
}

// post posts one work request.
func (f *flow) post() {
	i := f.choose()
	w := &f.kinds[i]
	f.left[i]--
	f.total--
	f.outstanding++
	if w.Every > 0 {
		f.due = max(f.due, f.run.now) + w.Every
	}
	request := f.memory.request(w, f.random)
	if w.RKey != nil {
		request.RKey = *w.RKey
	}
	f.run.result.Posted++
	if err := f.sends.Post(request); err != nil {
		f.run.fail(err)
	}
}

// choose is the kind of work that is posted next.
func (f *flow) choose() int {
	i := 0
	if f.run.s.Order == Mixed && len(f.kinds) > 1 {
		for n := f.random.Int64N(f.total); n >= f.left[i]; i++ {
			n -= f.left[i]
		}
		return i
	}
	for f.left[i] == 0 {
		i++
	}
	return i
}

// complete is told how a work request ended.
func (f *flow) complete(c transport.Completion) {
	f.outstanding--
	f.run.result.ended(c.Status, f.run.now)
	if c.Status != transport.Success {
		f.failed = true
	}
	f.fill()
}
