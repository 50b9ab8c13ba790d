package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// arrival is what the analysis keeps of one packet: the few fields that streams
// are followed by, and nothing that aliases the frame. A header field counts
// only if has says that its header is there.
type arrival struct {
	number, file int
	time         int64
	op           codec.Opcode
	psn          psn.PSN
	payload      int // bytes on the wire
	wire         int // bytes on the wire from the BTH to the ICRC
	sport        uint16
	place        place // in the order in which its sender sent
	ackReq       bool
	reTx         bool
	synchronise  bool
	ce           bool
	damaged      bool // a bad ICRC that counts
	has          codec.HeaderSet
	reth         codec.RETH
	aeth         codec.AETH
	tc           codec.TCAETH
	sack         psn.PSN
	mp           codec.MPETH
}

// form is where the headers of an opcode lie behind the BTH.
type form struct {
	len                    int // of all headers, the BTH included
	reth, aeth, sack, mp   int // offset from the BTH, 0 where there is none
	headers                codec.HeaderSet
	verb                   codec.Verb
	starts, ends, response bool // place of the packet in its message
	receives               bool // it takes a receive request of the receiver
	awaits                 bool // no acknowledgement takes the place of its own answer
	fetches                bool // READ responses answer it: READ, and FLUSH and ATOMIC WRITE by one without data
}

var forms = spellForms()

func spellForms() (all [256]form) {
	for i := range all {
		op := codec.Opcode(i)
		f := &all[i]
		f.headers, f.verb = op.Headers(), op.Verb()
		f.starts, f.ends, f.response = op.Starts(), op.Ends(), op.Response()
		f.fetches = f.verb == codec.VerbRead || f.verb == codec.VerbFlush || f.verb == codec.VerbAtomicWrite
		f.awaits = f.fetches || f.verb == codec.VerbAtomic
		f.receives = !f.response && (f.verb == codec.VerbSend || f.headers.Has(codec.HeaderImmDt))
		for _, h := range codec.Headers() {
			if !f.headers.Has(h) {
				continue
			}
			switch h {
			case codec.HeaderRETH:
				f.reth = f.len
			case codec.HeaderAETH:
				f.aeth = f.len
			case codec.HeaderSackETH:
				f.sack = f.len
			case codec.HeaderMPETH:
				f.mp = f.len
			}
			f.len += h.Len()
		}
	}
	return all
}

// read takes from the transport packet b, of which wireLen bytes were on the
// wire, what streams need. What the capture cut off is not in has; what does
// not fit the opcode leaves a payload of zero.
func (in *arrival) read(h *codec.BTH, b []byte, wireLen int) {
	f := &forms[h.Opcode]
	in.op, in.psn, in.wire = h.Opcode, h.PSN, wireLen
	in.ackReq, in.reTx, in.synchronise = h.AckReq, h.ReTx, h.Synchronise
	in.has = 0
	if f.headers&interesting != 0 {
		in.extensions(f, b[:min(len(b), max(wireLen-4, 0))])
	}
	in.payload = max(0, wireLen-4-int(h.PadCnt)-f.len)
	if f.verb == codec.VerbAck || f.verb == codec.VerbAtomicAck {
		in.fragment(f, b)
	}
}

var interesting = codec.Set(codec.HeaderRETH, codec.HeaderAETH, codec.HeaderSackETH, codec.HeaderMPETH)

func (in *arrival) extensions(f *form, b []byte) {
	if f.reth != 0 && len(b) >= f.reth && in.reth.Decode(b[f.reth:]) == nil {
		in.has |= 1 << codec.HeaderRETH
	}
	if f.aeth != 0 && len(b) >= f.aeth && in.aeth.Decode(b[f.aeth:]) == nil {
		in.has |= 1 << codec.HeaderAETH
	}
	if f.sack != 0 && len(b) >= f.sack {
		var sack codec.SackETH
		if sack.Decode(b[f.sack:]) == nil {
			in.sack = sack.SackPSN
			in.has |= 1 << codec.HeaderSackETH
		}
	}
	if f.mp != 0 && len(b) >= f.mp && in.mp.Decode(b[f.mp:]) == nil {
		in.has |= 1 << codec.HeaderMPETH
	}
}

// fragment reads a T/C AETH where the length of the acknowledgement shows one
// (wire formats, section 6).
func (in *arrival) fragment(f *form, b []byte) {
	if in.op.Service() != codec.RC && in.op.Service() != codec.XRC {
		return
	}
	at := f.aeth + codec.HeaderAETH.Len()
	if n := in.payload; n == 30 || n == 27 {
		in.payload = 0
		if len(b) >= at+n && in.tc.Decode(b[at:at+n]) == nil {
			in.has |= 1 << codec.HeaderTCAETH
		}
	}
}
