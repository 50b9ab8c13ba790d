package dissect

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// managed tells a story in which the ends of connection 1 connect and disconnect:
//
//	REQ100 A asks, its PSNs begin at 100; MTU 256, timeout 67 ms, 3 retries,
//	none after an RNR NAK
//	REP900 B agrees, its PSNs begin at 900  RTU
//	REJ    B refuses  REJ' A refuses what B agreed to
//	DREQ   A ends it  DREQ' B ends it  DREP, DREP' they answer
//
// Each REQ is an attempt of its own; REQ without a PSN repeats the last one.
func managed(t *testing.T, c Config, text string) *Report {
	t.Helper()
	s := newStory(c)
	id, start := uint32(0), 0
	for _, word := range strings.Fields(text) {
		name := strings.TrimRight(word, "0123456789'")
		back := strings.HasSuffix(word, "'")
		n, err := strconv.Atoi(strings.TrimLeft(word, "REQP"))
		own, other, qpn := 0x10+id, 0x20+id, uint32(0x111)
		if back {
			own, other, qpn = other, own, 0x222
		}
		m := codec.CM{MAD: codec.MAD{BaseVersion: 1, Class: codec.ClassCM, ClassVersion: 2, Method: 3}}
		switch name {
		case "REQ":
			if err == nil {
				id, start = id+1, n
			}
			m.Attribute, m.Headers = codec.AttributeREQ, codec.Set(codec.HeaderMAD, codec.HeaderREQ)
			m.REQ = codec.REQ{LocalCommID: 0x10 + id, LocalQPN: 0x222, StartingPSN: psn.New(start), PathMTU: 1, RetryCount: 3}
			m.REQ.Primary.LocalAckTimeout = 14
		case "REP":
			back = true
			m.Attribute, m.Headers = codec.AttributeREP, codec.Set(codec.HeaderMAD, codec.HeaderREP)
			m.REP = codec.REP{LocalCommID: 0x20 + id, RemoteCommID: 0x10 + id, LocalQPN: 0x111, StartingPSN: psn.New(n)}
		case "RTU":
			m.Attribute, m.Headers = codec.AttributeRTU, codec.Set(codec.HeaderMAD, codec.HeaderRTU)
			m.RTU = codec.RTU{LocalCommID: own, RemoteCommID: other}
		case "DREQ":
			m.Attribute, m.Headers = codec.AttributeDREQ, codec.Set(codec.HeaderMAD, codec.HeaderDREQ)
			m.DREQ = codec.DREQ{LocalCommID: own, RemoteCommID: other, RemoteQPN: qpn}
		case "DREP":
			m.Attribute, m.Headers = codec.AttributeDREP, codec.Set(codec.HeaderMAD, codec.HeaderDREP)
			m.DREP = codec.DREP{LocalCommID: own, RemoteCommID: other}
		case "REJ":
			m.Attribute, m.Headers = codec.AttributeREJ, codec.Set(codec.HeaderMAD, codec.HeaderREJ)
			m.REJ = codec.REJ{RemoteCommID: 0x10 + id, Reason: 28}
			if back = !back; !back { // A refuses the REP
				m.REJ = codec.REJ{LocalCommID: 0x10 + id, RemoteCommID: 0x20 + id, MessageRejected: 1, Reason: 28}
			}
		default:
			s.word(word)
			continue
		}
		payload, err := m.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		p := codec.Packet{Payload: append(payload, make([]byte, codec.MADLen-len(payload))...)}
		p.BTH = codec.BTH{Opcode: codec.Op(codec.UD, codec.SendOnly), PKey: 0xffff, DestQP: 1, PSN: psn.New(s.number)}
		p.DETH = codec.DETH{QKey: 0x80010000, SrcQP: 1}
		p.Headers = p.BTH.Opcode.Headers()
		transport, err := p.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		src, dst := "c0000201", "c0000202"
		if back {
			src, dst = dst, src
		}
		s.pass(s.wrap(transport, src, dst, false), 1000)
	}
	return s.end()
}

// What ends a connection ends it, whichever message the capture has; what comes
// on its queue pairs then is another connection, with REQ and REP or without.
func TestConnectionManagement(t *testing.T) {
	const life = "W100! a100:1 W101! a101:2 "
	const set = "REQ100 REP900 RTU "
	for _, c := range []struct{ name, story, request string }{
		{"set up anew", set + life + "DREQ DREP' +1ms " + set + life, "packets 4; epochs 2"},
		{"and no DREQ seen", set + life + set + life, "packets 4; epochs 2"},
		{"the REQ and the REP come again", "REQ100 REQ REP900 REP900 RTU W100! a100:1 REP900 RTU W101! a101:2", "packets 2"},
		{"a DREQ, and nothing else", life + "DREQ +2ms W101 W102", "packets 4; epochs 2"},
		{"the other end's DREQ", life + "DREQ' +2ms W101 W102", "packets 4; epochs 2"},
		{"a DREP alone, after a REQ and a REP", set + life + "DREP +2ms W101 W102", "packets 4; epochs 2"},
		{"the other end's DREP", set + life + "DREP' +2ms W101 W102", "packets 4; epochs 2"},
		{"a DREP of which nothing is known ends nothing", life + "DREP +2ms " + "W101! a101:2", "packets 3; resent 1 timeout:1 redundant:1"},
		{"refused, and no life begins", life + "REQ500 REJ REP900 +2ms W102! a102:3", "packets 3"},
		{"agreed and then refused, and no life begins", set + life + "REQ101 REP900 REJ' +2ms W102! a102:3", "packets 3"},
		{"the first packet of a connection is lost", set + "W101! n100:0 W100 W101! a101:2",
			"packets 3; lost 1 [100]; resent 2 nak:2 needed:1 wasted:1; gap 100 observed+nak upstream retransmitted"},
		{"a resend that waits three quarters of the agreed timer is a timeout", set + "W100! +51ms W100! a100:1",
			"packets 2; undecided 1; resent 1 timeout:1 unknown:1; gap 100 timeout unknown retransmitted"},
		{"and one that does not is early", set + "W100! +49ms W100! a100:1",
			"packets 2; undecided 1; resent 1 early:1 unknown:1; gap 100 timeout unknown retransmitted"},
		{"the agreed number of retries", set + "W100! +70ms W100! +70ms W100! +70ms W100! 2/w900",
			"packets 4; undecided 1; resent 3 timeout:3 unknown:3; gap 100 timeout unknown open; finding retry-exhausted"},
		{"the agreed MTU tells the size of a READ", set + "R100:4 W105! n104:1", "packets 2; lost 1 [104]; gap 104 observed+nak upstream open"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			if request, _ := lines(managed(t, Config{}, c.story)); request != c.request {
				t.Errorf("%s\n got %s\nwant %s", c.story, request, c.request)
			}
		})
	}
}

// A connection is told to be closed once, whichever end says so first.
func TestDisconnectEvents(t *testing.T) {
	for _, end := range []string{"DREQ DREP'", "DREQ' DREP", "DREP", "DREP'", "DREQ DREQ DREP' DREP'"} {
		var got []string
		managed(t, Config{Events: func(e *Event) {
			if e.Kind == ConnectionOpened || e.Kind == ConnectionClosed {
				got = append(got, string(e.Kind)+string(e.Ending))
			}
		}}, "REQ100 REP900 RTU W100! a100:1 "+end)
		if want := []string{"connection-opened", "connection-closeddisconnect"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", end, got, want)
		}
	}
}
