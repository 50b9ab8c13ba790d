package sim

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/psn"
)

// What a file says is what the struct has.
func TestParse(t *testing.T) {
	got, err := Parse([]byte(`
about: everything once   # a comment
seed: 0x10
start: 2026-01-02T03:04:05Z
until: 2s
transport: {name: go-back-n, window: 32, ack-every: 4}
pairs: {count: 3, mtu: 2048, start-psn: 0xfffffe, sender-qpn: 0x100, receiver-qpn: 512, ack-timeout: 8, retry-count: 2,
  rnr-retry-count: 3, rnr-timer: 80us, read-limit: 4, depth: 9, stagger: 1ms}
order: mixed
work:
  - {verb: send-imm, size: 1KiB..2KiB, count: 5, from: receiver, every: 3us}
  - verb: fetch-add
    rkey: 7
receives: {posted: 2, every: 1ms}
handshake: true
carrier: ipv6
vlan: [1, 2]
dscp: 26
ecn: false
cnp: {every: 50us}
sender: {address: "2001:db8::7", mac: 02:00:00:00:00:aa, lid: 3, rate: 100Gb/s}
arbitration: fair
paths:
  - count: 2
    links:
      - name: first
        delay: 1.5us
        rate: 25 Gbit/s
        queue: 1MB
        mark: 64KiB
        there:
          loss: [{p: 0.5, only: acks, qp: 2}, {model: gilbert-elliott, good-to-bad: 0.1, bad-to-good: 0.2, in-good: 0.01, in-bad: 0.9}]
          damage: {model: nth, n: [1, 5]}
          duplicate: {model: burst, first: 3, count: 2, every: 10}
          mark: {model: psn, psn: [{psn: 3}, {psn: 4, copy: 2}]}
          reorder: {model: outage, from: 1us, until: 2us, by: 4us}
taps: sender
`), "x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	start, rkey, inBad := psn.PSN(0xfffffe), uint32(7), 0.9
	want.About, want.Seed, want.Start, want.Until = "everything once", 16, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 2*time.Second
	want.Transport = Transport{Name: GoBackN, Window: 32, AckEvery: 4}
	want.Pairs = Pairs{3, 2048, &start, 0x100, 512, 8, 2, 3, 80 * time.Microsecond, 4, 9, time.Millisecond}
	want.Order = Mixed
	want.Work = []Work{
		{"send-imm", Size{1024, 2048}, 5, FromReceiver, 3 * time.Microsecond, nil},
		{"fetch-add", Fixed(65536), 1, FromSender, 0, &rkey},
	}
	want.Receives = Receives{2, time.Millisecond}
	want.Handshake, want.Carrier, want.VLAN, want.DSCP, want.ECN, want.CNP.Every = true, CarrierIPv6, []uint16{1, 2}, 26, false, 50*time.Microsecond
	_ = want.Sender.Address.UnmarshalText([]byte("2001:db8::7"))
	want.Sender.MAC, want.Sender.LID, want.Sender.Rate = MAC{2, 0, 0, 0, 0, 0xaa}, 3, 100e9
	want.Arbitration = Fair
	want.Links = nil
	want.Paths = []Path{{Count: 2, Links: []Link{{Name: "first", Delay: 1500, Rate: 25e9, Queue: Fixed(1e6), Mark: Fixed(65536), There: Direction{
		Loss: []Pick{{P: 0.5, Only: OnlyAcks, QP: 2},
			{Model: GilbertElliott, GoodToBad: 0.1, BadToGood: 0.2, InGood: 0.01, InBad: &inBad}},
		Damage:    []Pick{{Model: Nth, N: []int64{1, 5}}},
		Duplicate: []Pick{{Model: Burst, First: 3, Count: 2, Every: 10}},
		Mark:      []Pick{{Model: ByPSN, PSN: []Copy{{PSN: 3}, {PSN: 4, Copy: 2}}}},
		Reorder:   []Late{{Pick{Model: Outage, From: 1000, Until: 2000}, 4000}},
	}}}}}
	want.Taps = []Tap{"sender"}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got\n%+v, want\n%+v", *got, want)
	}
}

// Each fault names the line, the whole key, and what would be right.
func TestParseFaults(t *testing.T) {
	for _, v := range []struct{ text, want string }{
		{"", "x.yaml: empty"},
		{"# nothing\n", "x.yaml: empty"},
		{"- 1", "x.yaml:1: want keys with values: about, seed, "},
		{"about: a\n---\nabout: b", "x.yaml: want one YAML document, not 2"},
		{"seed: 1\nseed: 2", "x.yaml:2: "},
		{"about: [", "x.yaml:1: "},
		{"about: a\nlinkz: []", "x.yaml:2: linkz: no such key; there are about, seed, "},
		{"links:\n  - name: a\n    dely: 3us", "x.yaml:3: links[0].dely: no such key; there are name, delay, rate, queue, mark, there, back"},
		{"links:\n  - name: a\n    delay: 3", `x.yaml:3: links[0].delay: "3": want a duration such as 10us`},
		{"links:\n  - name: a\n    delay: -3us", `x.yaml:3: links[0].delay: "-3us": want a duration such as 10us`},
		{"links:\n  - {name: a, rate: fast}", `x.yaml:2: links[0].rate: "fast": want a rate such as 40Gb/s`},
		{"links:\n  - {name: a, queue: 1KiB}", "x.yaml:2: links[0].queue: a link without a rate has no queue"},
		{"links:\n  - {name: sender}", `x.yaml:2: links[0].name: "sender" is the name of something else`},
		{"links: []", "x.yaml:1: links: want at least one link"},
		{"links: {name: a}\npaths: {links: {name: b}}", "x.yaml:2: paths: want links or paths, not both"},
		{"links:\n  name: a\n  there:\n    loss:\n      - {p: 0.1}\n      - {p: 1.5}", "x.yaml:6: links[0].there.loss[1].p: 1.5: want a probability from 0 to 1"},
		{"links:\n  name: a\n  back: {loss: {model: lucky}}", `x.yaml:3: links[0].back.loss[0].model: "lucky": want bernoulli, gilbert-elliott, nth, burst, psn or outage`},
		{"links:\n  name: a\n  back: {loss: {only: nothing, p: 1}}", `x.yaml:3: links[0].back.loss[0].only: "nothing": want data, requests, responses or acks`},
		{"links:\n  name: a\n  back: {loss: {model: nth}}", "x.yaml:3: links[0].back.loss[0].n: want numbers of packets, counted from 1"},
		{"links:\n  name: a\n  back: {loss: {model: psn, psn: {psn: 16777216}}}", "x.yaml:3: links[0].back.loss[0].psn[0].psn: 16777216: want 0 to 16777215"},
		{"links:\n  name: a\n  back: {reorder: {p: 1}}", "x.yaml:3: links[0].back.reorder[0].by: want how long the packets are held back"},
		{"transport: {name: tcp}", `x.yaml:1: transport.name: "tcp": want go-back-n, irn, windowless or mp-rdma`},
		{"links: {name: ../evil}", `x.yaml:1: links[0].name: "../evil" cannot be part of a file's name`},
		{"seed: 1\nstart: 1969-12-31T23:59:59Z", "x.yaml:2: start: 1969-12-31T23:59:59Z: want a time from 1970 to 2261"},
		{"start: 2300-01-01T00:00:00Z", "x.yaml:1: start: 2300-01-01T00:00:00Z: want a time from 1970 to 2261"},
		{"transport: {mode: literal}", "x.yaml:1: transport.mode: is for windowless, not for go-back-n"},
		{"transport:\n  name: windowless\n  window: 4", "x.yaml:3: transport.window: is for go-back-n or mp-rdma, not for windowless"},
		{"transport: {name: windowless, mode: loose}", `x.yaml:1: transport.mode: "loose": want anchored or literal`},
		{"transport: go-back-n", "x.yaml:1: transport: want keys with values: name, window, ack-every, mode, rate, c-thresh, t-thresh, hold, rtt"},
		{"work:\n- verb: put", `x.yaml:2: work[0].verb: "put": want send, send-imm, send-inv, write, write-imm, read, cmp-swap or fetch-add`},
		{"work:\n- size: 3000000000", "x.yaml:2: work[0].size: 3000000000: want 0 to 2147483648"},
		{"work:\n- size: 4KiB..1KiB", `x.yaml:2: work[0].size: "4KiB..1KiB": want the smaller size first`},
		{"work:\n- size: 1.5", `x.yaml:2: work[0].size: "1.5": want bytes such as 4096, 64KiB or 1KiB..64KiB`},
		{"work:\n- count: many", `x.yaml:2: work[0].count: "many": want a whole number`},
		{"pairs:\n  mtu: 1000", "x.yaml:2: pairs.mtu: 1000: want 256, 512, 1024, 2048 or 4096"},
		{"pairs:\n  ack-timeout: 300", `x.yaml:2: pairs.ack-timeout: "300": want a whole number from 0 to 255`},
		{"pairs:\n  ack-timeout: 32", "x.yaml:2: pairs.ack-timeout: 32: want 0 to 31"},
		{"pairs:\n  count:", "x.yaml:2: pairs.count: a value is missing"},
		{"pairs:\n  count: [1, 2]", "x.yaml:2: pairs.count: want a single value"},
		{"pairs: &a {count: 1}", "x.yaml:1: pairs: "},
		{"seed: !!str 4", "x.yaml:1: seed: anchors, aliases and tags are not for scenarios"},
		{"handshake: perhaps", `x.yaml:1: handshake: "perhaps": want true or false`},
		{"carrier: atm", `x.yaml:1: carrier: "atm": want ipv4, ipv6, rocev1, ib or ib-grh`},
		{"carrier: ib\nvlan: 3", "x.yaml:1: carrier: VLAN: no such frame: InfiniBand has none"},
		{"sender:\n  address: example", `x.yaml:2: sender.address: "example": want an IP address`},
		{"sender:\n  mac: 1", `x.yaml:2: sender.mac: "1": want an Ethernet address such as 02:00:00:00:00:01`},
		{"start: now", `x.yaml:1: start: "now": want a time such as 2026-01-02T15:04:05Z`},
		{"taps: [sender, wire, moon]", `x.yaml:1: taps[2]: "moon": want sender, receiver or wire`},
		{"receives: {posted: 1}", "x.yaml:1: receives.every: want how long it takes until another receive is posted"},
	} {
		s, err := Parse([]byte(v.text), "x.yaml")
		if err == nil {
			t.Errorf("%q: no fault, %+v", v.text, s)
			continue
		}
		if !strings.HasPrefix(err.Error(), v.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\n%v, want\n%s", v.text, err, v.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("links: {name: a, there: {loss: {p: 0.1}}}"))
	f.Add([]byte("work: [{verb: send, size: 1..2}]\n? a\n: *b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := Parse(text, "x"); (s == nil) == (err == nil) {
			t.Errorf("%v and %v", s, err)
		}
	})
}
