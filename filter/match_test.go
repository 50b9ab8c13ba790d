package filter_test

import (
	"io"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/filter"
)

// each visits the RDMA packets of a capture that ships with the repository, and
// gives the time of its first frame.
func each(t testing.TB, name string, begin func(first int64), visit func(p *dissect.Packet)) {
	t.Helper()
	r, err := capture.Open("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, p, l := dissect.Frame{}, dissect.Packet{}, dissect.Locator{}
	for begun := false; ; begun = true {
		if err := r.Next(&f); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if !begun {
			begin(f.Time)
		}
		if l.Locate(&f, &p) == dissect.Found {
			visit(&p)
		}
	}
}

// frames lists the frames of a capture whose packets an expression takes.
func frames(t testing.TB, name, expression string) []int {
	t.Helper()
	f, err := filter.Parse(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	list := []int{}
	each(t, name, func(first int64) { f.Begin(first, first) }, func(p *dissect.Packet) {
		if f.Match(p) {
			list = append(list, p.Number)
		}
	})
	return list
}

// What an expression takes is what another way to say the same takes, and frames
// that README names for this capture.
func TestMatch(t *testing.T) {
	const nth = "pcaps/rxe-nth_drops-receiver.pcap.gz"
	all := len(frames(t, nth, "true"))
	if all != 792 { // what README says of it
		t.Fatalf("%d packets, want 792", all)
	}
	for _, same := range [][2]string{
		{`aeth.syndrome == 96`, `aeth.syndrome == 0x60`},
		{`aeth.syndrome == 96`, `0x60 == aeth.syndrome`},
		{`aeth.syndrome < 96`, `96 > aeth.syndrome`},
		{`aeth.syndrome in 96..127`, `aeth.syndrome >= 96 and aeth.syndrome <= 127`},
		{`aeth.syndrome in 96..127`, `bitand(aeth.syndrome, 0x60) == 0x60`},
		{`aeth.syndrome not in 96..127`, `has(aeth) and not (aeth.syndrome in 96..127)`},
		{`aeth.syndrome != 96`, `has(aeth) and not (aeth.syndrome == 96)`},
		{`not (aeth.syndrome == 96)`, `aeth == nil or aeth.syndrome != 96`},
		{`aeth != nil`, `has(aeth)`},
		{`aeth?.msn != nil`, `has(aeth.msn)`},
		{`bth.psn in [4100, 4105..4107]`, `bth.psn == 4100 || bth.psn == 4105 || bth.psn == 4106 || bth.psn == 4107`},
		{`bth.psn in 4600..4100`, `bth.psn >= 4600 or bth.psn <= 4100`},
		{`4100 <= bth.psn <= 4105`, `bth.psn in 4100..4105`},
		{`opcode("WRITE")`, `opcode_name contains "WRITE"`},
		{`opcode("*middle")`, `opcode_name endsWith "Middle"`},
		{`opcode(6, 0x11)`, `bth.opcode in [6, 17]`},
		{`opcode_name matches "^RC .*(First|Last)$"`, `opcode_name in ["RC RDMA WRITE First", "RC RDMA WRITE Last"]`},
		{`src == "192.0.2.1"`, `src in cidr("192.0.2.0/31")`},
		{`src == "192.0.2.1"`, `src in ["192.0.2.1", "198.51.100.0/24"]`},
		{`src not in cidr("192.0.2.0/31")`, `dst == "192.0.2.1"`},
		{`src != dst`, `true`},
		{`bth.a`, `bth.a == 1`},
		{`bth.a == 0`, `!bth.a`},
		{`carrier == "rocev2" and icrc == "good" and error == nil`, `true`},
		{`len(tunnel) == 0 and "vxlan" not in tunnel`, `true`},
		{`sport == udp.srcport and udp.dstport == 4791 and ip.version == 4`, `true`},
		{`bth.psn % 2 == 1`, `bitand(bth.psn, 1) == 1`},
		{`(bth.psn == 4100) == true`, `bth.psn == 4100`},
		{`reth.va == 0x562b06425000`, `reth.va == "0x0000562b06425000"`},
		{`time < "+37ms"`, `frame < 59 and true`}, // README: frame 59 came after 37.0 ms
		{`reth.va < 0xffffffffffffffff`, `has(reth)`},
		{`false`, `reth.va >= 0x8000000000000000`},
		{`payload_len > 1023`, `payload_len == 1024`},
	} {
		a, b := frames(t, nth, same[0]), frames(t, nth, same[1])
		if !slices.Equal(a, b) {
			t.Errorf("%s\n%v\n%s\n%v", same[0], a, same[1], b)
		}
		if same[0] != "false" && len(a) == 0 {
			t.Errorf("%s takes nothing, which shows nothing", same[0])
		}
	}
	// The frames that README names for this capture.
	for expression, want := range map[string][]int{
		`bth.psn == 4105 and has(reth) == false and payload_len > 0`: {72},
		`aeth.syndrome >= 0x60`: {71, 365},
	} {
		if got := frames(t, nth, expression); !slices.Equal(got, want) {
			t.Errorf("%s takes frames %v, want %v", expression, got, want)
		}
	}
}

// Numbers of 64 bits have no sign, and addresses of kernel memory lie above 2^63.
func TestMatch64Bits(t *testing.T) {
	const kernel, user = 0xffff888012345000, 0x7f0000001000
	for expression, want := range map[string][2]bool{
		`reth.va >= 0xffff888000000000`:                     {true, false},
		`reth.va >= 0x7f0000000000`:                         {true, true},
		`reth.va < 0x8000000000000000`:                      {false, true},
		`reth.va == 0xffff888012345000`:                     {true, false},
		`reth.va == 18446612682375450624`:                   {true, false},
		`reth.va == "0xffff888012345000"`:                   {true, false},
		`reth.va in 0xffff888000000000..0xffffffffffffffff`: {true, false},
		`reth.va in [1, 0x00007f0000001000]`:                {false, true},
	} {
		f, err := filter.Parse(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		for i, va := range [2]uint64{kernel, user} {
			if got := f.Match(request(t, va)); got != want[i] {
				t.Errorf("%s of %#x is %v", expression, va, got)
			}
		}
	}
}
