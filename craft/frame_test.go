package craft

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// made is the frame of a line.
func made(t *testing.T, line string) dissect.Frame {
	t.Helper()
	var f dissect.Frame
	o, err := Parse([]byte(line))
	if err == nil {
		err = new(Builder).Frame(o, &f)
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return f
}

// decoded is the packet in a frame, which must lead to one.
func decoded(t *testing.T, line string) (*codec.Packet, *dissect.Packet) {
	t.Helper()
	f := made(t, line)
	var found dissect.Packet
	if out := new(dissect.Locator).Locate(&f, &found); out != dissect.Found {
		t.Fatalf("%s: %v", line, out)
	}
	var p codec.Packet
	if err := p.Decode(found.Transport(), found.WireLen); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return &p, &found
}

// Frames of hardware (wire-formats of IBA and annexes A16, A17) from as little as
// says what is special about them.
func TestFramesOfHardware(t *testing.T) {
	for line, want := range map[string]string{
		`{"opcode_name":"CNP","eth":{"dst":"e4:1d:2d:ab:2b:c2","src":"7c:fe:90:64:3b:32"},"src":"10.0.17.1","dst":"10.0.18.1","sport":0,
			"ip":{"id":29068,"dsfield":194,"flags":2},"bth":{"destqp":280}}`: "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a",
		`{"carrier":"rocev1","opcode_name":"rc-acknowledge","eth":{"dst":"7c:fe:90:75:3c:d8","src":"7c:fe:90:75:3c:d8"},"src":"15.0.0.2","dst":"15.0.0.2",
			"bth":{"m":1,"destqp":265,"psn":"0xa788c0"},"aeth":{"syndrome":0,"msn":5}}`: "7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ffff0000010900a788c00000000525f0c038",
		`{"src":"lid:1","dst":"lid:4","carrier":"ib","opcode_name":"RC Acknowledge","bth":{"m":1,"destqp":"0x870408","psn":"0xd40a55"},"aeth":{"syndrome":31,"msn":1}}`: "00020004000700011140ffff0087040800d40a551f000001a80355503081",
	} {
		if got := hex.EncodeToString(made(t, line).Data); got != want {
			t.Errorf("%s makes\n%s, hardware made\n%s", line, got, want)
		}
	}
}

// Every opcode in every carrier is completed to what decodes and has a good ICRC.
func TestEveryOpcodeIsCompleted(t *testing.T) {
	for _, carrier := range []string{"ipv4", "ipv6", "rocev1", "ib", "ib-grh"} {
		for i := range 256 {
			op := codec.Opcode(i)
			if !op.Known() {
				continue
			}
			p, found := decoded(t, `{"carrier":"`+carrier+`","opcode_name":"`+op.String()+`"}`)
			if p.Headers != op.Headers() || found.ICRC() != dissect.ICRCGood {
				t.Errorf("%s %v: headers %b, want %b, ICRC %v", carrier, op, p.Headers, op.Headers(), found.ICRC())
			}
			if len(found.Covered)-found.BTH != found.WireLen {
				t.Errorf("%s %v: %d bytes, lengths say %d", carrier, op, len(found.Covered)-found.BTH, found.WireLen)
			}
		}
	}
}

func TestTCAETHIsPadded(t *testing.T) {
	p, _ := decoded(t, `{"opcode_name":"RC Acknowledge","tcaeth":{"segmentnum":2,"lastfinishedpsn":199,"seg1left":300,"seg1right":399}}`)
	if !p.Has(codec.HeaderTCAETH) || p.BTH.PadCnt != 2 || len(p.Pad) != 2 || p.TCAETH.Seg1Left != 300 {
		t.Errorf("headers %b, PadCnt %d, %d bytes of pad, %+v", p.Headers, p.BTH.PadCnt, len(p.Pad), p.TCAETH)
	}
	p, _ = decoded(t, `{"opcode_name":"RC Acknowledge","tcaeth":{"length":27}}`)
	if !p.Has(codec.HeaderTCAETH) || !p.TCAETH.Short {
		t.Errorf("headers %b, short %v", p.Headers, p.TCAETH.Short)
	}
}

func TestWrongOnPurpose(t *testing.T) {
	_, found := decoded(t, `{"opcode_name":"RC SEND Only","icrc":"bad"}`)
	if found.ICRC() != dissect.ICRCBad {
		t.Error("the ICRC is not bad")
	}
	whole, without := made(t, `{"opcode_name":"RC SEND Only"}`).Data, made(t, `{"opcode_name":"RC SEND Only","icrc":"none"}`).Data
	if len(without) != len(whole)-4 {
		t.Errorf("%d bytes without an ICRC, %d with one", len(without), len(whole))
	}
	if b := made(t, `{"opcode_name":"RC SEND Only","icrc":"01020304"}`).Data; !bytes.HasSuffix(b, []byte{1, 2, 3, 4}) {
		t.Errorf("ICRC % x", b[len(b)-4:])
	}
	p, _ := decoded(t, `{"opcode_name":"RC SEND Only","payload":"00112233","pad":3}`)
	if p.BTH.PadCnt != 3 || len(p.Pad) != 3 || len(p.Payload) != 4 {
		t.Errorf("PadCnt %d, %d bytes of pad, %d of payload", p.BTH.PadCnt, len(p.Pad), len(p.Payload))
	}
	p, _ = decoded(t, `{"opcode_name":"RC SEND Only","bth":{"rsv6":63,"rsv1":1,"rsv4":15,"tver":9}}`)
	if p.BTH.Rsv6 != 63 || p.BTH.Rsv1 != 1 || p.BTH.Rsv4 != 15 || p.BTH.TVer != 9 {
		t.Errorf("%+v", p.BTH)
	}
	if f := made(t, `{"bth":{"opcode":255},"payload_len":8,"caplen":60}`); f.Data[42] != 0xff || len(f.Data) != 60 || f.WireLen != 42+12+8+4 {
		t.Errorf("opcode %#x, %d of %d bytes", f.Data[42], len(f.Data), f.WireLen)
	}
}

// What few frames have: tags that say what they are, fragments, IPv4 options, IPv6
// extension headers, a trailer in place of a VCRC, a line that is complete.
func TestRareParts(t *testing.T) {
	for line, want := range map[string]struct {
		from int
		hex  string
	}{
		`{"opcode_name":"CNP","vlan":[{"tpid":37120,"pcp":5,"dei":1,"id":291},{"pcp":2,"id":7}]}`:                            {12, "9100b123" + "81004007" + "0800"},
		`{"opcode_name":"CNP","ip":{"flags":1,"frag_offset":4660,"options":"01010100","ttl":1,"id":5}}`:                      {14, "4602" + "0040" + "0005" + "3234" + "01"},
		`{"opcode_name":"CNP","ip":{"options":"01010100"}}`:                                                                  {34, "01010100" + "c00012b7"},
		`{"opcode_name":"CNP","ip":{"version":6,"tclass":18,"flow":74565,"nxt":0,"hlim":3,"extensions":"1100010400000000"}}`: {14, "61212345" + "0030" + "0003"},
		`{"carrier":"ib","opcode_name":"RC Acknowledge","lrh":{"vl":3,"sl":5},"trailer":"ffff"}`:                             {0, "3052" + "0002" + "0007" + "0001"},
		`{"bth":{"opcode":6},"icrc_bytes":""}`:                                                                               {0, "4502" + "0028"},
	} {
		b := made(t, line).Data
		if got := hex.EncodeToString(b[want.from:min(want.from+len(want.hex)/2, len(b))]); got != want.hex {
			t.Errorf("%s: at byte %d %s, want %s", line, want.from, got, want.hex)
		}
	}
	if b := made(t, `{"carrier":"ib","opcode_name":"RC Acknowledge","trailer":"ffff"}`).Data; len(b) != 30 || b[28] != 0xff || b[29] != 0xff {
		t.Errorf("%d bytes, % x", len(b), b)
	}
	if b := made(t, `{"bth":{"opcode":6},"icrc_bytes":""}`).Data; len(b) != 20+8+12 {
		t.Errorf("a complete line was completed: %d bytes", len(b))
	}
}

// The same seed gives the same payload, each packet its own.
func TestPayloadOfTheSeed(t *testing.T) {
	o, _ := Parse([]byte(`{"opcode_name":"RC SEND Only","payload_len":64}`))
	frames := func(seed uint64) (all []string) {
		b := Builder{Seed: seed}
		var f dissect.Frame
		for range 2 {
			if err := b.Frame(o, &f); err != nil {
				t.Fatal(err)
			}
			all = append(all, string(f.Data))
		}
		return all
	}
	a, again, other := frames(1), frames(1), frames(2)
	if a[0] != again[0] || a[1] != again[1] || a[0] == a[1] || a[0] == other[0] {
		t.Error("payload does not follow the seed")
	}
}

func TestFaultsNameKeyAndWhatIsRight(t *testing.T) {
	for line, want := range map[string]string{
		`{"opcode_name":"RC SEND Only","bth":{"psn":16777216}}`: `bth.psn: 16777216: want 0 to 16777215`,
		`{"opcode_name":"RC SEND Only","bth":{"psn":-1}}`:       `bth.psn: -1: want 0 to 16777215`,
		`{"opcode_name":"RC SEND Only","bth":{"se":"yes"}}`:     `bth.se: "yes": want 0 or 1`,
		`{"opcode_name":"UD SEND Twice"}`:                       `opcode_name: "UD SEND Twice": no such operation; there are UD SEND Only, UD SEND Only with Immediate`,
		`{"bht":{}}`:                                            `bht: no such key; there are aeth, atomicacketh, `,
		`{"bth":{"psm":1}}`:                                     `bth.psm: no such key; there are opcode, se, m, padcnt, tver, p_key, fecn, becn, rsv6, destqp, a, rsv1, retx, synchronise, rsv4, psn`,
		`{"bth":7}`:                                             `bth: want an object of opcode, se`,
		`{}`:                                                    `bth.opcode: want an opcode, 0 to 255, or a name as opcode_name`,
		`[]`:                                                    `want a JSON object, not an array`,
		`{"bth":`:                                               `the JSON object does not end in this line`,
		`{"opcode_name":"CNP"} {}`:                              `no JSON object: more follows the object`,
		`{"opcode_name":"CNP","carrier":"tcp"}`:                 `carrier: "tcp": want rocev2, ipv4, ipv6, rocev1, ib or ib-grh`,
		`{"opcode_name":"CNP","src":"::1","dst":"10.0.0.2"}`:          `dst: 10.0.0.2: want an IPv6 address, as the other one is`,
		`{"opcode_name":"CNP","carrier":"ib","src":"10.0.0.1"}`:       `src: "10.0.0.1": want lid:0 to lid:65535, as the carrier is ib`,
		`{"opcode_name":"CNP","icrc":"wrong"}`:                        `icrc: "wrong": want good, bad, none, or 8 hexadecimal digits`,
		`{"opcode_name":"RC SEND Only","payload":"abc"}`:              `payload: "abc": want two hexadecimal digits a byte`,
		`{"opcode_name":"RC SEND Only","payload_len":70000}`:          `ip.len: 70044: the frame is too long for its headers, want at most 65535`,
		`{"opcode_name":"RC SEND Only","caplen":9000}`:                `caplen: 9000: want 0 to 314`,
		`{"opcode_name":"RC SEND Only","wirelen":9}`:                  `wirelen: 9: want at least the 314 bytes that are captured`,
		`{"opcode_name":"RC SEND Only","time":"now"}`:                 `time: "now": want seconds since 1970 such as 1700000000.000001000`,
		`{"opcode_name":"CNP","vlan":[{"id":4096}]}`:                  `vlan[0].id: 4096: want 0 to 4095`,
		`{"opcode_name":"CNP","vlan":[{"vid":1}]}`:                    `vlan[0].vid: no such key; there are tpid, pcp, dei, id`,
		`{"opcode_name":"CNP","ip":{"hdr_len":21}}`:                   `ip.hdr_len: 21: want a multiple of 4 up to 60`,
		`{"opcode_name":"RC Acknowledge","tcaeth":{"length":28}}`:     `tcaeth.length: 28: want 30 or 27`,
		`{"opcode_name":"CNP","eth":{"src":"02:00:00:00:00"}}`:        `eth.src: "02:00:00:00:00": want an Ethernet address such as 02:00:00:00:00:01`,
		`{"opcode_name":"CNP","ip":{"version":5}}`:                    `ip.version: 5: want 4 or 6`,
		`{"opcode_name":"CNP","link":70000}`:                          `link: 70000: want 0 to 65535`,
		`{"opcode_name":"UD SEND Only","deth":{"srcqp":"0x1000000"}}`: `deth.srcqp: "0x1000000": want 0 to 16777215`,
	} {
		var f dissect.Frame
		o, err := Parse([]byte(line))
		if err == nil {
			err = new(Builder).Frame(o, &f)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// Whatever a line says, there is a frame or a fault.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{"opcode_name":"CNP"}`, `{"bth":{"opcode":17},"tcaeth":{"length":27},"icrc_bytes":""}`, `{"vlan":[{}],"payload":"00","error":"x"}`,
		`{"carrier":"ib","lrh":{},"grh":{},"bth":{"opcode":4},"mad":{},"req":{}}`, `{"opcode_name":"rc-send-only","ip":{"version":6,"extensions":"00"},"caplen":3}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		o, err := Parse(line)
		if err != nil {
			return
		}
		var frame dissect.Frame
		if n, _ := o["payload_len"].(json.Number); len(n) > 5 {
			return // right, and slow
		}
		if err := new(Builder).Frame(o, &frame); err == nil && frame.WireLen < len(frame.Data) {
			t.Errorf("%d of %d bytes", len(frame.Data), frame.WireLen)
		}
	})
}
