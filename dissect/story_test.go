package dissect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A story is packets that pass a capture point, a word each. A letter says
// what, a number the PSN:
//
//	w WRITE Middle  W WRITE Only  f WRITE First  l WRITE Last  u UC WRITE Only
//	a ACK  n sequence NAK  r RNR NAK  x remote access NAK
//	R READ request, of "R100:4" packets of 256 bytes, the last shorter
//	o READ response
//	b WRITE Middle that came damaged  s SEND Only  c ACK that grants no credit
//	p READ response First  q READ response Last  e READ response Only
//	i IRN WRITE Middle  I IRN NACK "I12:14": 12 is missing, 14 has come
//	A MP-RDMA ACK "A12:9": 12 has come, and all up to 9  N MP-RDMA NACK alike
//	t T/C AETH report "t199:300-399,500-599": up to 199, and these
//	F FLUSH  V ATOMIC WRITE  E READ response Only without payload
//	g FetchAdd  h ATOMIC Acknowledge
//	z WRITE Only the other way, of B  y ACK of A on it
//
// What has an AETH may say its MSN, "a100:3"; else that is 7. A WRITE with "!" asks for an
// acknowledgement, one with "~" is an MP-RDMA resend (ReTx), one with "^" must
// not overtake (Synchronise). "=" is the frame before it once
// more. "+67ms" is a pause; else a microsecond passes between packets. "2/w5"
// is a packet of another connection, between the same hosts; "@w5" is one of XRC.
type story struct {
	analyzer *Analyzer
	now      int64
	number   int
	file     int
	id       uint16
	last     []byte
	cut      bool // the capture leaves the ICRC out
}

// In the stories A is 192.0.2.1 and asks, B is 192.0.2.2 and answers.
func tell(tb testing.TB, c Config, text string) *Report {
	tb.Helper()
	s := newStory(c)
	for _, word := range strings.Fields(text) {
		s.word(word)
	}
	return s.end()
}

func newStory(c Config) *story {
	s := &story{analyzer: NewAnalyzer(c), now: 1_700_000_000_000_000_000}
	s.analyzer.OpenCapture("story", "pcap")
	return s
}

func (s *story) end() *Report {
	s.analyzer.CloseCapture(0, 0, nil)
	return s.analyzer.Report()
}

func (s *story) word(word string) {
	if pause, ok := strings.CutPrefix(word, "+"); ok {
		d, err := time.ParseDuration(pause)
		if err != nil {
			panic(err)
		}
		s.now += d.Nanoseconds()
		return
	}
	if word == "=" {
		s.pass(s.last, 300)
		return
	}
	connection := 1
	if c, rest, ok := strings.Cut(word, "/"); ok {
		connection, _ = strconv.Atoi(c)
		word = rest
	}
	s.pass(s.frame(word, connection), 1000)
}

// pass shows the analyzer a frame, some nanoseconds after the one before.
func (s *story) pass(frame []byte, after int64) {
	s.now += after
	s.number++
	s.last = frame
	wire := len(frame)
	if s.cut {
		frame = frame[:wire-4]
	}
	s.analyzer.Frame(&Frame{Data: frame, WireLen: wire, Time: s.now, Link: LinkEthernet, Number: s.number, File: s.file})
}

func (s *story) frame(word string, connection int) []byte {
	word, xrc := strings.CutPrefix(word, "@")
	number, size, _ := strings.Cut(strings.TrimRight(word[1:], "!~^"), ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		panic(word)
	}
	bth := codec.BTH{PKey: 0xffff, DestQP: 0x111 + 0x1000*uint32(connection-1), AckReq: strings.HasSuffix(word, "!"), PSN: psn.New(n),
		ReTx: strings.Contains(word, "~"), Synchronise: strings.Contains(word, "^")}
	p := codec.Packet{Payload: make([]byte, 256)}
	back := false
	answer := func(syndrome codec.Syndrome) {
		back = true
		p.Payload = nil
		bth.Opcode = codec.Op(codec.RC, codec.Acknowledge)
		p.AETH = codec.AETH{Syndrome: syndrome, MSN: 7}
		if msn, err := strconv.Atoi(size); err == nil {
			p.AETH.MSN = uint32(msn)
		}
	}
	switch word[0] {
	case 'w', 'b':
		bth.Opcode = codec.Op(codec.RC, codec.WriteMiddle)
	case 'W':
		bth.Opcode = codec.Op(codec.RC, codec.WriteOnly)
	case 'f':
		bth.Opcode = codec.Op(codec.RC, codec.WriteFirst)
		p.RETH = codec.RETH{VA: 0x1000, RKey: 5, DMALen: 4096}
	case 'l':
		bth.Opcode = codec.Op(codec.RC, codec.WriteLast)
	case 'u':
		bth.Opcode = codec.Op(codec.UC, codec.WriteOnly)
	case 'a':
		answer(0x1f)
	case 'c':
		answer(0)
	case 't':
		answer(0x1f)
		bth.PadCnt = 2
		p.TCAETH = tcAETH(psn.New(n), size)
		p.Pad = make([]byte, 2)
	case 'E':
		answer(0x1f)
		bth.Opcode = codec.Op(codec.RC, codec.ReadResponseOnly)
	case 'h':
		answer(0x1f)
		bth.Opcode = codec.Op(codec.RC, codec.AtomicAcknowledge)
	case 'F', 'g':
		p.Payload = nil
		bth.Opcode = codec.Op(codec.RC, map[byte]codec.Operation{'F': codec.Flush, 'g': codec.FetchAdd}[word[0]])
	case 'V':
		p.Payload = make([]byte, 8)
		bth.Opcode = codec.Op(codec.RC, codec.AtomicWrite)
	case 'p', 'q', 'e':
		answer(0x1f)
		p.Payload = make([]byte, 256)
		bth.Opcode = codec.Op(codec.RC, map[byte]codec.Operation{'p': codec.ReadResponseFirst, 'q': codec.ReadResponseLast, 'e': codec.ReadResponseOnly}[word[0]])
	case 'y':
		answer(0x1f)
		back = false
	case 'z':
		back = true
		bth.Opcode = codec.Op(codec.RC, codec.WriteOnly)
	case 'i':
		bth.Opcode = codec.Op(codec.IRN, codec.WriteMiddle)
	case 'I':
		answer(codec.SyndromePSNSequenceError)
		bth.Opcode = codec.OpcodeIRNNack
		p.SackETH.SackPSN = numbered(size)
	case 'A', 'N':
		answer(0x1f)
		bth.Opcode = codec.OpcodeMPRDMAAck
		if word[0] == 'N' {
			bth.Opcode = codec.OpcodeMPRDMANack
			p.AETH.Syndrome = codec.SyndromePSNSequenceError
		}
		p.MPETH.AACK = numbered(size)
	case 's':
		bth.Opcode = codec.Op(codec.RC, codec.SendOnly)
	case 'n':
		answer(codec.SyndromePSNSequenceError)
	case 'r':
		answer(0x2e)
	case 'x':
		answer(0x62)
	case 'R':
		k, _ := strconv.Atoi(size)
		bth.Opcode = codec.Op(codec.RC, codec.ReadRequest)
		p.Payload, p.RETH.DMALen = nil, uint32(256*k-8)
	case 'o':
		back = true
		bth.Opcode = codec.Op(codec.RC, codec.ReadResponseMiddle)
	default:
		panic(word)
	}
	src, dst := "c0000201", "c0000202"
	if back {
		src, dst = dst, src
		bth.DestQP += 0x111
	}
	if xrc {
		bth.Opcode = codec.Op(codec.XRC, bth.Opcode.Operation())
	}
	p.BTH = bth
	p.Headers = bth.Opcode.Headers()
	if word[0] == 't' {
		p.Headers |= codec.Set(codec.HeaderTCAETH)
	}
	transport, err := p.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	return s.wrap(transport, src, dst, word[0] == 'b')
}

// wrap puts a transport packet into a frame, damaged or not.
func (s *story) wrap(transport []byte, src, dst string, damaged bool) []byte {
	s.id++
	datagram := udp(RoCEv2Port, append(transport, 0, 0, 0, 0))
	b := slices.Concat(unhex("45 00"), length(20+len(datagram)), length(int(s.id)), unhex("4000 40 11 0000"), unhex(src+dst), datagram)
	icrc, err := codec.ICRC(codec.RoCEv2IPv4, b[:len(b)-4], 28)
	if err != nil {
		panic(err)
	}
	if damaged {
		icrc ^= 1
	}
	return ethernet("0800", codec.AppendICRC(b[:len(b)-4], icrc))
}

func numbered(text string) psn.PSN {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return psn.New(n)
}

// tcAETH is a report of segments such as "300-399,500-599", none where that is "".
func tcAETH(last psn.PSN, segments string) codec.TCAETH {
	h := codec.TCAETH{SegmentNum: 1, LastFinishedPSN: last}
	if segments == "" {
		return h
	}
	ends := [][2]*psn.PSN{{&h.Seg1Left, &h.Seg1Right}, {&h.Seg2Left, &h.Seg2Right}, {&h.Seg3Left, &h.Seg3Right}}
	for i, segment := range strings.Split(segments, ",") {
		if _, err := fmt.Sscanf(segment, "%d-%d", ends[i][0], ends[i][1]); err != nil {
			panic(err)
		}
		h.SegmentNum++
	}
	return h
}

// line sums up a stream as the tests write it: what is zero is left out.
func line(s *Stream) string {
	var b strings.Builder
	add := func(name string, n int64) {
		if n != 0 {
			fmt.Fprintf(&b, "%s %d; ", name, n)
		}
	}
	fmt.Fprintf(&b, "packets %d; ", s.Packets)
	if s.Epochs != 1 {
		add("epochs", int64(s.Epochs))
	}
	if s.Lost > 0 {
		fmt.Fprintf(&b, "lost %d %v; ", s.Lost, s.LostRanges)
	}
	add("harmless", s.LostHarmless)
	add("damaged", s.Damaged)
	add("undecided", s.Undecided)
	add("not captured", s.NotCaptured)
	add("reordered", s.Reordered)
	if r := s.Retransmitted; r.Packets > 0 {
		fmt.Fprintf(&b, "resent %d", r.Packets)
		for _, c := range causes {
			if n := r.ByCause[c]; n > 0 {
				fmt.Fprintf(&b, " %s:%d", c, n)
			}
		}
		for _, v := range verdicts {
			if n := r.ByVerdict[v]; n > 0 {
				fmt.Fprintf(&b, " %s:%d", v, n)
			}
		}
		b.WriteString("; ")
	}
	gaps := slices.Clone(s.Gaps)
	slices.SortStableFunc(gaps, func(x, y Gap) int { return int(x.First) - int(y.First) })
	for _, g := range gaps {
		evidence := string(g.Evidence)
		if g.ConfirmedBy != "" {
			evidence += "+" + string(g.ConfirmedBy)
		}
		fmt.Fprintf(&b, "gap %v %s %s %s", psn.Range{First: g.First, Last: g.Last}, evidence, g.Where, g.Closed)
		if g.Copies > 1 && g.Where != Unknown {
			fmt.Fprintf(&b, " x%d", g.Copies)
		}
		b.WriteString("; ")
	}
	for _, f := range s.Findings {
		if !f.Counted() { // the others follow from the counts, see counters_test.go
			fmt.Fprintf(&b, "finding %s; ", f.Kind)
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// lines are the streams of a story's first connection.
func lines(r *Report) (request, response string) {
	for i := range r.Connections {
		for j := range r.Connections[i].Streams {
			s := &r.Connections[i].Streams[j]
			if s.DestQP != 0x111 && s.DestQP != 0x222 {
				continue
			}
			if s.Kind == "request" {
				request = line(s)
			} else {
				response = line(s)
			}
		}
	}
	return request, response
}

// Each expectation follows from the rule that the name cites, in the words of
// the report (docs/output.md) and of InfiniBand's go-back-N.
func TestStories(t *testing.T) {
	for _, c := range []struct{ name, story, request, response string }{
		{"in order", "f100 w101 l102! a102", "packets 3", ""},
		{"across the end of the PSN space", "w16777214 w16777215 w0 w1! a1", "packets 4", ""},
		{"one lost of a flight of four: one needed, two wasted",
			"f1000! a1000 w1002 n1001 l1003 w1001 w1002 l1003! a1003",
			"packets 6; lost 1 [1001]; resent 3 nak:3 needed:1 wasted:2; gap 1001 observed+nak upstream retransmitted", ""},
		{"the acknowledgement lost: nobody can tell, until it was acknowledged",
			"W1000! +67ms W1000! a1000",
			"packets 2; undecided 1; resent 1 timeout:1 unknown:1; gap 1000 timeout unknown retransmitted", ""},
		{"acknowledged and sent again all the same",
			"W1000! a1000 +67ms W1000! a1000",
			"packets 2; resent 1 timeout:1 redundant:1", ""},
		{"two missing, a NAK for the first", "w100 w101 w104 w105 n102 w106 w107 w102 w103 w104 w105 w106 w107! a107",
			"packets 12; lost 2 [102-103]; resent 6 nak:6 needed:2 wasted:4; gap 102-103 observed+nak upstream retransmitted", ""},
		{"late, not lost", "w900 w902 w901 w903 w905 w904! a905", "packets 6; reordered 2", ""},
		{"late, and the receiver had asked for it: the run carries it again",
			"w10 w12 n11 w11 w13 w14 w11 w12 w13 w14 w15! a15",
			"packets 10; reordered 1; resent 4 nak:4 wasted:4", ""},
		{"late in the middle of a resend: what the receiver refused meanwhile is sent again, not lost",
			"w9! a9 w11 n10 w12 w13 w14 w15 w16 w17 +8us w10 w11 w13 n12 w14 w15 w12! a12 w16 n13 w17 +8us w12! a12 w13 w14 w15 w16 w17! a17",
			"packets 22; lost 1 [10]; reordered 1; resent 13 nak:7 early:6 needed:1 redundant:1 wasted:11; gap 10 observed+nak upstream retransmitted", ""},
		{"late behind its resend, for no other reason: it was not lost",
			"w9! a9 w10 w12 n11 w13 +8us w11 w12 w13! a13 +8us w11 a13 w14! a14",
			"packets 9; reordered 1; resent 3 nak:3 needed:1 wasted:2", ""},
		{"late, and the receiver is slow to say so: it refused what came before",
			"w1 w3 w4 w2 w5 n2 n3 w2 w3 w4 w5! a5",
			"packets 9; reordered 1; resent 4 nak:4 redundant:1 wasted:3", ""},
		{"selective: the lone answer to a NAK", "w1 w2 w4 w5 n3 w3! a5",
			"packets 5; lost 1 [3]; resent 1 nak:1 needed:1; gap 3 observed+nak upstream retransmitted", ""},
		{"seen here, missing at the receiver", "w1 w2 w3 w4 n2 w2 w3 w4! a4",
			"packets 7; lost 1 [2]; resent 3 nak:3 needed:1 wasted:2; gap 2 nak downstream retransmitted", ""},
		{"the same packet lost twice upstream", "w1 w2 w4 n3 w4 n3 w3 w4! a4",
			"packets 6; lost 2 [3]; resent 3 nak:3 needed:1 wasted:2; gap 3 observed+nak upstream retransmitted x2", ""},
		{"the same packet lost twice downstream", "w1 w2 w3 n2 w2 w3 +1ms n2 w2 w3! a3",
			"packets 7; lost 2 [2]; resent 4 nak:4 needed:2 wasted:2; gap 2 nak downstream retransmitted x2", ""},
		{"two runs miss different parts of a gap: no PSN lost more than twice",
			"w1 w2 w5 w6 n3 w4 w5 w6 n3 w3 w5 w6 n4 w4 w5 w6! a6",
			"packets 13; lost 4 [3-4]; resent 9 nak:9 needed:3 wasted:6; gap 3-4 observed+nak upstream retransmitted x2", ""},
		{"one run misses two separate parts of a gap",
			"w1 w2 w7 n3 w3 w5 w7 n4 w4 w5 w6 w7! a7",
			"packets 10; lost 6 [3-6]; resent 7 nak:7 needed:4 wasted:3; gap 3-6 observed+nak upstream retransmitted x2", ""},
		{"one run misses three separate parts of a gap, the next run two of them",
			"w1 w2 w10 n3 w4 w6 w8 w10 n3 w3 w4 w6 w7 w8 w10 n5 w5 w6 w7 w8 w9 w10! a10",
			// 7 PSNs once, 3, 5, 7 and 9 again, 5 and 9 once more
			"packets 19; lost 13 [3-9]; resent 16 nak:16 needed:7 wasted:9; gap 3-9 observed+nak upstream retransmitted x3", ""},
		{"a copy lost within the resend run, which the receiver needed",
			"w1 w2 w4 w5 w6 n3 w3 w5 n4 w6 w4 w5 w6! a6",
			"packets 11; lost 2 [3-4]; resent 6 nak:6 needed:2 wasted:4; gap 3 observed+nak upstream retransmitted; gap 4 observed+nak upstream retransmitted", ""},
		{"the second hole of a flight gets no NAK and is repaired in passing",
			"w1 w3 n2 w5 w6 w2 w3 w4 w5 w6! a6",
			"packets 9; lost 2 [2 4]; resent 5 nak:5 needed:2 wasted:3; gap 2 observed+nak upstream retransmitted; gap 4 observed upstream retransmitted", ""},
		{"the capture lost it", "w1 w2 w5 w6! a6", "packets 4; not captured 2; gap 3-4 observed capture not-captured", ""},
		{"nobody named it, nobody resent it", "w1 w2 w5 w6", "packets 4; undecided 2; gap 3-4 observed upstream open", ""},
		{"named, and open at the end", "w1 w2 w4 n3", "packets 3; lost 1 [3]; gap 3 observed+nak upstream open", ""},
		{"UC has no recovery", "u1 u2 u5 u6", "packets 4; lost 2 [3-4]; gap 3-4 observed upstream open", ""},
		{"receiver not ready is no loss, nor is the NAK that follows it",
			"w1 w2 w3 w4 r2 n2 +1ms w2 w3 w4! a4",
			"packets 7; resent 3 rnr:3 needed:1 wasted:2", ""},
		{"an access error is no loss", "W1 W2 W3 x2", "packets 3; finding remote-access-error", ""},
		{"never ready", "w1 r1 +2ms w1 r1 +2ms w1 r1 +20ms 2/w900", "packets 3; resent 2 rnr:2 needed:2; finding rnr-retry-exhausted", ""},
		{"silent for good", "w1 +67ms w1 +67ms w1 +500ms 2/w900",
			"packets 3; undecided 1; resent 2 timeout:2 unknown:2; gap 1 timeout unknown open; finding retry-exhausted", ""},
		{"mirrored twice", "w1 = w2 = w3! = a3 =", "packets 3", ""},
		{"damaged, but acknowledged: beside the path, or the capture missed another copy", "w1 b2 w3! a3 w4! a4",
			"packets 4; damaged 1; not captured 1; gap 2 icrc capture not-captured; finding icrc-damage", ""},
		{"the same of two copies", "w1 b2 b2 w3! a3 w4! a4",
			"packets 5; damaged 2; not captured 1; resent 1 early:1 unknown:1; gap 2 icrc capture not-captured; finding icrc-damage", ""},
		{"damaged and named, the resend not captured", "w1 b2 w3 n2 a3 w4! a4",
			"packets 4; lost 1 [2]; damaged 1; gap 2 icrc+nak upstream not-captured; finding icrc-damage", ""},
		{"damaged on the way here", "w1 b2 w3 n2 w2 w3! a3",
			"packets 5; lost 1 [2]; damaged 1; resent 2 nak:2 needed:1 wasted:1; gap 2 icrc+nak upstream retransmitted; finding icrc-damage", ""},
		{"the tail damaged, the timer repairs it", "W1! a1 b2 +67ms w2! a2",
			"packets 3; lost 1 [2]; damaged 1; resent 1 timeout:1 needed:1; gap 2 icrc upstream retransmitted; finding icrc-damage", ""},
		{"a queue pair used again far behind", "w9000000 w9000001! a9000001 w100 w101 w102! a102", "packets 5; epochs 2", ""},
		{"a queue pair used again far ahead", "w100 w101! a101 w5000000 w5000001", "packets 4; epochs 2", ""},
		{"a wide gap, confirmed by the NAK", "w1 w3000 n2 w3001", "packets 3; lost 1 [2]; undecided 2997; gap 2-2999 observed+nak upstream open", ""},
		{"a stray packet ahead opens no gap", "w1 w3000 w2 w3! a3", "packets 4", ""},
		{"a stray packet begins no epoch", "w100 w101 w5000000 w102 w103! a103", "packets 5", ""},
		{"a READ takes as many PSNs as its response", "R100:4 o100 o101 o102 o103 w104! a104 R105:1 o105 w106! a106",
			"packets 4", "packets 5"},
		{"the next request tells the size of a READ", "R100:4 R104:4 w108 w109", "packets 4", ""},
		{"a response lost before this point, an implied NAK",
			"w99 R100:4 R104:2 o100 o102 o103 o104 o105 R101:3 R104:2 o101 o102 o103 o104 o105",
			"packets 5; resent 2 implied-nak:2 needed:1 wasted:1",
			"packets 10; lost 1 [101]; resent 5 implied-nak:5 needed:1 wasted:4; gap 101 observed+implied-nak upstream retransmitted"},
		{"a response lost behind this point, an implied NAK",
			"w99 R100:4 R104:2 o100 o101 o102 o103 o104 o105 R101:3 R104:2 o101 o102 o103 o104 o105",
			"packets 5; resent 2 implied-nak:2 needed:1 wasted:1",
			"packets 11; lost 1 [101]; resent 5 implied-nak:5 needed:1 wasted:4; gap 101 implied-nak downstream retransmitted"},
		{"a READ asked for anew once a later response came: its first response was lost behind this point, or the requests before it on the way here",
			"w98! a98 w99 R100:4 R104:2 o100 o101 o102 o103 o104 o105 R100:4 R104:2 o100 o101 o102 o103 o104 o105",
			"packets 6; resent 2 implied-nak:2 needed:1 wasted:1",
			"packets 12; resent 6 implied-nak:6 needed:1 wasted:5"},
		{"the same once a later acknowledgement came",
			"w98! a98 w99 R100:4 w104! o100 o101 o102 o103 a104 R100:4 w104! o100 o101 o102 o103 a104",
			"packets 6; resent 2 implied-nak:2 needed:1 wasted:1",
			"packets 8; resent 4 implied-nak:4 needed:1 wasted:3"},
		{"a READ asked for anew by the timer: nobody can tell what was lost, and all of it came again",
			"w98! a98 w99 R100:4 R104:2 o100 o101 o102 o103 o104 o105 +67ms R100:4 R104:2 o100 o101 o102 o103 o104 o105", "packets 6; resent 2 timeout:2 redundant:2",
			"packets 12; undecided 6; resent 6 timeout:6 unknown:6; gap 100-105 timeout unknown retransmitted"},
		{"a READ asked for anew that nothing followed: nobody can tell",
			"w98! +20us a98 w99 R100:4 o100 o101 o102 o103 R100:4 o100 o101 o102 o103", "packets 4; resent 1 early:1 redundant:1",
			"packets 8; undecided 4; resent 4 early:4 unknown:4; gap 100-103 timeout unknown retransmitted"},
		{"a READ request lost counts as one", "w99 o98 w100 R105:4 n101 R101:4 R105:4 w109! a109",
			"packets 6; lost 1 [101]; resent 2 nak:2 needed:1 wasted:1; gap 101 observed+nak upstream retransmitted", ""},
		{"responses only: jumps are no gaps", "a4000 a4004 a4020", "", ""},
		{"a NAK before the first packet seen is no loss", "w500! a500 w501 w502 n400 w503! a503", "packets 4", ""},
		{"eight times nothing", "W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50",
			"packets 8; undecided 1; resent 7 timeout:7 unknown:7; gap 50 timeout unknown open; finding retry-exhausted", ""},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			request, response := lines(tell(t, Config{}, c.story))
			if request != c.request {
				t.Errorf("%s\n got %s\nwant %s", c.story, request, c.request)
			}
			if c.response != "" && response != c.response {
				t.Errorf("%s\nresponses\n got %s\nwant %s", c.story, response, c.response)
			}
		})
	}
}

// The stories' clock steps a microsecond a packet.
func TestTimes(t *testing.T) {
	for _, c := range []struct{ name, story, times string }{
		{"next to the receiver", "w100 w101 w104 w105 n102 w106 w107 w102 w103 w104 w105 w106 w107! a107",
			// The gap shows with 104, the NAK comes 2 us later; 103 closes it
			// another 4 us later. The sender's times are not shown.
			"nak generation 1 2000; recovery 1 6000"},
		{"next to the sender", "w1 w2! +20us a2 w3 w4 w5 n3 w3 w4 w5! +20us a5",
			// a2 comes 21 us after what asked for it, and a5 tells nothing, since 5
			// was sent twice; the NAK is answered within a microsecond, and so the
			// gap that it opened is closed. No message is seen whole.
			"nak reaction 1 1000; recovery 1 1000; rtt 1 21000"},
		{"messages", "f1 w2 l3! +20us a3 W4 W5! +20us a5 w6 l7! +20us a7",
			// 1 to 3 take 23 us, 4 takes 22 and 5 takes 21; of the last the beginning
			// is missing.
			"rtt 3 21000; message 3 22000"},
		{"a message of which a part is resent", "f1 w2 l3! n2 w2 l3! a3", "nak reaction 1 1000; recovery 1 1000; message 1 6000"},
		{"a READ ends with its last response", "R1:3 o1 o2 +5us o3 w4! a4",
			"rtt 1 1000; message 1 8000"},
		{"one timeout after another, each from the copy before", "W1! a1 W2! +67ms W2! +67ms W2! +67ms W2!",
			"rtt 1 1000; timeout 3 67001000; message 1 1000"},
		{"a timeout", "w1! +20us a1 w2! +5ms w2! +20us a2", "rtt 1 21000; timeout 1 5001000"},
	} {
		s := &tell(t, Config{}, c.story).Connections[0].Streams[0]
		var got []string
		for _, x := range []struct {
			name string
			span *Span
		}{{"nak generation", s.Times.NakGeneration}, {"nak reaction", s.Times.NakReaction}, {"recovery", s.Times.Recovery},
			{"rtt", s.Times.RTT}, {"timeout", s.Times.Timeout}, {"message", s.Times.Message}} {
			if x.span != nil {
				got = append(got, fmt.Sprintf("%s %d %d", x.name, x.span.Count, x.span.Median))
			}
		}
		if got := strings.Join(got, "; "); got != c.times {
			t.Errorf("%s: got %s, want %s", c.name, got, c.times)
		}
	}
}

// Of 12 packets of payload sent 8 are acknowledged, each once.
func TestEfficiency(t *testing.T) {
	s := requests(t, tell(t, Config{}, "w100 w101 w104 w105 n102 w106 w107 w102 w103 w104 w105 w106 w107! a107"))
	if s.Efficiency == nil || *s.Efficiency != 8.0/12 {
		t.Errorf("efficiency %v, want %v", s.Efficiency, 8.0/12)
	}
	if s := requests(t, tell(t, Config{}, "w1 w2 w3")); s.Efficiency != nil {
		t.Errorf("efficiency %v of what nobody acknowledged", *s.Efficiency)
	}
}

// Events tell what the report tells, as it happens.
func TestEvents(t *testing.T) {
	var got []string
	c := Config{Events: func(e *Event) {
		word := fmt.Sprintf("%s@%d", e.Kind, e.Frame)
		if e.First != nil {
			word += " " + psn.Range{First: *e.First, Last: *e.Last}.String()
		}
		got = append(got, word)
	}}
	tell(t, c, "w1 w2 w5 n3 w3 w4 w5! a5")
	// That 3 and 4 are a resend run, and not late, only 5 shows.
	want := []string{"connection-opened@1", "gap-opened@3 3-4", "nak@4 3", "gap-closed@6 3-4", "retransmission@6 3-4", "retransmission@7 5"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// No gap ever lost less than one copy of one packet: several late copies of
// one gap take back one round of its losses, and a READ lost twice, or lost over
// two gaps, is one packet.
func TestGapCountsStayPositive(t *testing.T) {
	for _, text := range []string{
		// 2 to 5 are lost, NAKed, their resend is lost too but comes late
		"w1 w6 n2 w6 w7 w2 w3 w4 w5 w8 n2 w6 w3 w4 w2 w5 w9! a9",
		"w1 w8 n2 w2 w3 w8 n4 w7 w4 w5 w6 w8 w9! a9",
		"w1 w7 n2 w2 w6 w3 w7 w4 w8 w5 w9! a9",
		"w1 b2 w10 n2 R2:8 w10! a10",
		"w1 w10 n2 R2:8 w10 n2 w10 n2 R2:8 w10! a10",
		"w1 w14 n2 R2:8 w10 w11 w12 w13 w14 n2 w14 n2 R2:8 w10 w11 w12 w13 w14! a14",
	} {
		c := Config{Events: func(e *Event) {
			if e.Kind == GapClosed && e.Count < 1 {
				t.Errorf("%s: event of %d PSNs", text, e.Count)
			}
		}}
		for _, g := range requests(t, tell(t, c, text)).Gaps {
			if g.Count < 1 || g.Copies < 1 && g.Closed != ClosedReordered {
				t.Errorf("%s: gap %d-%d counts %d, copies %d", text, g.First, g.Last, g.Count, g.Copies)
			}
		}
	}
}

// What lies below the first PSN seen and comes alone was overtaken at the start.
// It is no resend, and no timer is learnt from it, so that later reorderings
// stay what they are.
func TestReorderedAtTheStart(t *testing.T) {
	for _, c := range []struct {
		text                      string
		reordered, resent, doubts int64
		first                     psn.PSN
	}{
		{"w101 +12us w100 w102 w104 +12us w103 w105 w107 +12us w106 w108", 3, 0, 0, 100},
		{"w102 w100 w101 w103", 2, 0, 0, 100},
		{"w103 w102 w101 w104 w106 w105 w107! a107", 3, 0, 0, 101},
		{"w0 w16777215 w1 w2", 1, 0, 0, 16777215},
		// a run that goes on to what had passed is a resend
		{"w102 w103 +67ms w100 w101 w102 w103 w104! a104", 0, 4, 4, 102},
	} {
		s := requests(t, tell(t, Config{}, c.text))
		if s.Lost != 0 && c.resent == 0 || s.Reordered != c.reordered || s.Retransmitted.Packets != c.resent || s.Undecided != c.doubts {
			t.Errorf("%s: lost %d, reordered %d, resent %d, undecided %d, want 0, %d, %d, %d", c.text,
				s.Lost, s.Reordered, s.Retransmitted.Packets, s.Undecided, c.reordered, c.resent, c.doubts)
		}
		if c.resent == 0 && s.FirstPSN != c.first {
			t.Errorf("%s: begins at %d, want %d", c.text, s.FirstPSN, c.first)
		}
	}
}

// UC never resends. A flow that steps back begins anew; a packet that steps back
// alone is a copy that the network made.
func TestUCStartsOver(t *testing.T) {
	for _, c := range []struct {
		text            string
		epochs          int
		lost, reordered int64
	}{
		{"u100 u101 u102 u103 +60s u100 u101 u102 u103", 2, 0, 0},
		{"u100 u101 u103 u104 +60s u100 u101 u103 u104", 2, 2, 0},
		{"u100 u101 u102 u101 u103 u104", 1, 0, 0},
		{"u100 u101 u102 u102 u103", 1, 0, 0},
		{"u100 u101 u103 u102 u104", 1, 0, 1},
		{"u101 u100 u102 u103", 1, 0, 1},
	} {
		s := requests(t, tell(t, Config{}, c.text))
		if s.Epochs != c.epochs || s.Lost != c.lost || s.Reordered != c.reordered || s.Retransmitted.Packets != 0 || s.Undecided != 0 {
			t.Errorf("%s: %d epochs, lost %d, reordered %d, resent %d, undecided %d, want %d, %d, %d, 0, 0", c.text,
				s.Epochs, s.Lost, s.Reordered, s.Retransmitted.Packets, s.Undecided, c.epochs, c.lost, c.reordered)
		}
	}
}
