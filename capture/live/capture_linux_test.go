package live_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/veth"
)

// addresses of all test frames: to a unicast address that is nobody's.
const addresses = "02000000000b 02000000000a"

// frame is an Ethernet frame of hexadecimal digits, n bytes long.
func frame(t testing.TB, digits string, n int) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(addresses+digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return append(b, make([]byte, max(0, n-len(b)))...)
}

// Headers in hexadecimal: IPv4 and UDP to port 4791 (and to 53), IPv6 and UDP to
// port 4791.
const (
	ipv4    = "45000050 00004000 4011 0000 c0000201 c0000202 "
	ipv6    = "60000000 0040 1140 20010db8000000000000000000000001 20010db8000000000000000000000002 "
	rocev2  = "c000 12b7 003c 0000 "
	another = "c000 0035 003c 0000 "
	bth     = "04 00 ffff 00000025 00000001 "
)

func capture(t testing.TB, o live.Options) *live.Capture {
	t.Helper()
	c, err := live.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// next is a copy of the next frame.
func next(t testing.TB, c *live.Capture) dissect.Frame {
	t.Helper()
	var f dissect.Frame
	if err := c.Next(&f); err != nil {
		t.Fatal(err)
	}
	f.Data = bytes.Clone(f.Data)
	return f
}

// Every kind of RDMA frame is captured with its tags, and nothing else.
func TestCapture(t *testing.T) {
	veth.Enter(t)
	c := capture(t, live.Options{Interfaces: []string{veth.B}, Duration: 10 * time.Second, Filter: live.Filter{UDPPorts: []uint16{14791}}})
	wanted := [][]byte{
		frame(t, "0800"+ipv4+rocev2+bth, 100),
		frame(t, "86dd"+ipv6+rocev2+bth, 100),
		frame(t, "8915"+bth, 100),
		frame(t, "8100 0064 0800"+ipv4+rocev2+bth, 104),
		frame(t, "8100 e064 8915"+bth, 104),
		frame(t, "88a8 0007 8100 0064 86dd"+ipv6+rocev2+bth, 108),
		frame(t, "88a8 0007 8100 0064 8100 0008 0800"+ipv4+rocev2+bth, 112),
		frame(t, "8808 0101 00ff", 60),
		frame(t, "0800 4700 0058 0000 4000 4011 0000 c0000201 c0000202 01010101 01010101"+rocev2+bth, 110), // options
		frame(t, "0800"+ipv4+"c000 39c7 003c 0000"+bth, 100),                                               // port 14791
		frame(t, "0800 45000050 00002000 4011 0000 c0000201 c0000202"+rocev2+bth, 100),                     // first fragment
	}
	others := [][]byte{
		frame(t, "0800"+ipv4+another, 100),
		frame(t, "86dd"+ipv6+another, 100),
		frame(t, "8100 0064 0800"+ipv4+another, 100),
		frame(t, "0806 0001", 60),
		frame(t, "0800 45000050 00000010 4011 0000 c0000201 c0000202"+rocev2+bth, 100), // later fragment
		frame(t, "0800 45000050 00004000 4006 0000 c0000201 c0000202"+rocev2, 100),     // TCP
	}
	a := veth.NewSender(t, veth.A)
	before := time.Now()
	for i := range max(len(wanted), len(others)) {
		if i < len(others) {
			a.Send(others[i])
		}
		if i < len(wanted) {
			a.Send(wanted[i])
		}
	}
	for i, want := range wanted {
		f := next(t, c)
		if !bytes.Equal(f.Data, want) {
			t.Errorf("frame %d:\n%x, want\n%x", i+1, f.Data, want)
		}
		if f.WireLen != len(want) || f.Number != i+1 || f.Link != dissect.LinkEthernet {
			t.Errorf("frame %d: %d bytes on the wire, number %d, %v", i+1, f.WireLen, f.Number, f.Link)
		}
		if at := time.Unix(0, f.Time); at.Before(before.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) {
			t.Errorf("frame %d came at %v", i+1, at)
		}
	}
	if drops := c.Interfaces()[0].Drops; drops != 0 {
		t.Errorf("%d dropped", drops)
	}
}

// What an interface sends is captured there too.
func TestCaptureSent(t *testing.T) {
	veth.Enter(t)
	c := capture(t, live.Options{Interfaces: []string{veth.A}, Duration: 10 * time.Second})
	want := frame(t, "8100 0064 0800"+ipv4+rocev2+bth, 104)
	veth.NewSender(t, veth.A).Send(want)
	if f := next(t, c); !bytes.Equal(f.Data, want) {
		t.Errorf("%x, want %x", f.Data, want)
	}
}

// A frame through the loopback interface, which sends and receives it, comes
// once.
func TestCaptureLoopback(t *testing.T) {
	veth.Enter(t)
	c := capture(t, live.Options{Interfaces: []string{"lo"}, Duration: 500 * time.Millisecond})
	veth.NewSender(t, "lo").Send(frame(t, "0800"+ipv4+rocev2+bth, 100))
	next(t, c)
	if err := c.Next(new(dissect.Frame)); err != io.EOF {
		t.Errorf("then %v", err)
	}
}

func TestCaptureAll(t *testing.T) {
	veth.Enter(t)
	c := capture(t, live.Options{Interfaces: []string{veth.B}, Duration: 10 * time.Second, Filter: live.Filter{All: true}, SnapLen: 40})
	want := frame(t, "0800"+ipv4+another, 100)
	veth.NewSender(t, veth.A).Send(want)
	if f := next(t, c); !bytes.Equal(f.Data, want[:40]) || f.WireLen != 100 {
		t.Errorf("%x of %d bytes", f.Data, f.WireLen)
	}
}

// Cooked frames say which packet it was, and have the tag before it.
func TestCaptureAny(t *testing.T) {
	veth.Enter(t)
	c := capture(t, live.Options{Interfaces: []string{live.Any}, Duration: 10 * time.Second})
	a := veth.NewSender(t, veth.A)
	for _, digits := range []string{
		"0800" + ipv4 + rocev2 + bth,
		"8915" + bth,
		"8100 0064 0800" + ipv4 + rocev2 + bth,
		"88a8 0007 8100 0064 8915" + bth,
	} {
		want := frame(t, digits, 108)
		a.Send(want)
		kinds := ""
		for range 2 { // once where it is sent, once where it is received
			f := next(t, c)
			kinds += string('0' + f.Data[10])
			if f.Link != dissect.LinkLinuxSLL2 || len(f.Data) != 20+len(want)-14 || f.WireLen != len(f.Data) {
				t.Fatalf("%s: %v, %d bytes: %x", digits, f.Link, len(f.Data), f.Data)
			}
			got := append(append(bytes.Clone(want[:12]), f.Data[:2]...), f.Data[20:]...)
			if !bytes.Equal(got, want) {
				t.Errorf("%s:\n%x, want\n%x", digits, got, want)
			}
			if hardware := binary.BigEndian.Uint16(f.Data[8:]); hardware != 1 || f.Data[11] != 6 {
				t.Errorf("%s: ARPHRD %d, address of %d bytes", digits, hardware, f.Data[11])
			}
		}
		if kinds != "43" && kinds != "34" { // outgoing, and to another host
			t.Errorf("%s: packet types %s", digits, kinds)
		}
	}
}

// Frames of two interfaces come in order of their times.
func TestCaptureSeveral(t *testing.T) {
	veth.Enter(t)
	c := capture(t, live.Options{Interfaces: []string{veth.A, veth.B}, Duration: 10 * time.Second})
	a := veth.NewSender(t, veth.A)
	const n = 200
	for i := range n {
		a.Send(frame(t, "0800"+ipv4+rocev2+bth, 100+i))
	}
	last, from := int64(0), [2]int{}
	for range 2 * n {
		f := next(t, c)
		if f.Time < last {
			t.Fatalf("frame %d comes %d ns too late", f.Number, last-f.Time)
		}
		last = f.Time
		if f.WireLen != 100+from[f.Interface] {
			t.Fatalf("interface %d: %d bytes, want %d", f.Interface, f.WireLen, 100+from[f.Interface])
		}
		from[f.Interface]++
	}
}

// What finds no room is counted as the kernel counts it: captured and dropped
// are all that was sent.
func TestDrops(t *testing.T) {
	veth.Enter(t)
	stop := make(chan struct{})
	c := capture(t, live.Options{Interfaces: []string{veth.B}, Ring: live.MinRing, Stop: stop})
	a := veth.NewSender(t, veth.A)
	const n = 5000
	full := frame(t, "0800"+ipv4+rocev2+bth, 1024)
	for range n {
		a.Send(full)
	}
	close(stop)
	captured := 0
	var f dissect.Frame
	for c.Next(&f) == nil {
		captured++
	}
	drops := c.Interfaces()[0].Drops
	if captured == 0 || drops == 0 || captured+int(drops) != n {
		t.Errorf("%d captured and %d dropped of %d", captured, drops, n)
	}
	c.Close()
	if again := c.Interfaces()[0].Drops; again != drops {
		t.Errorf("%d dropped after closing", again)
	}
}

func TestDuration(t *testing.T) {
	veth.Enter(t)
	waited := 0
	c := capture(t, live.Options{Interfaces: []string{veth.B}, Duration: 300 * time.Millisecond, Waiting: func() { waited++ }})
	begin := time.Now()
	if err := c.Next(new(dissect.Frame)); err != io.EOF {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took < 250*time.Millisecond {
		t.Errorf("ended after %v", took)
	}
	if waited < 2 {
		t.Errorf("waiting was told %d times", waited)
	}
}

// An interface that goes down or away ends the capture, after what it received.
func TestInterfaceLost(t *testing.T) {
	for _, c := range []struct {
		args []string
		want error
	}{
		{[]string{"link", "set", veth.B, "down"}, live.ErrDown},
		{[]string{"link", "del", veth.B}, live.ErrGone},
	} {
		done := make(chan struct{})
		go func() { // a thread of its own, for a namespace of its own
			defer close(done)
			veth.Enter(t)
			l := capture(t, live.Options{Interfaces: []string{veth.B}, Duration: 10 * time.Second})
			veth.NewSender(t, veth.A).Send(frame(t, "8915"+bth, 100))
			veth.IP(t, c.args...)
			next(t, l)
			if err := l.Next(new(dissect.Frame)); !errors.Is(err, c.want) {
				t.Errorf("%v: %v", c.args, err)
			}
		}()
		<-done
	}
}

func TestOpenErrors(t *testing.T) {
	veth.Enter(t)
	veth.IP(t, "link", "add", "rdma-down", "type", "veth", "peer", "name", "rdma-peer")
	for _, c := range []struct {
		names []string
		want  string
		hint  string
	}{
		{[]string{"rdma-c"}, "rdma-c: no such interface", "there is rdma-a, rdma-b"},
		{[]string{"rdma-down"}, "rdma-down: the interface is down", "ip link set rdma-down up"},
		{[]string{"any", veth.A}, "any: stands for all interfaces and goes with no other", ""},
		{[]string{veth.A, veth.A}, "rdma-a: is named twice", ""},
		{[]string{""}, "no such interface", "there is"},
		{[]string{strings.Repeat("x", 300)}, strings.Repeat("x", 300) + ": no such interface", "there is"},
	} {
		_, err := live.Open(live.Options{Interfaces: c.names})
		var e *live.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), c.want) || !strings.HasPrefix(e.Hint, c.hint) {
			t.Errorf("%v: %v, %+v", c.names, err, e)
		}
	}
}
