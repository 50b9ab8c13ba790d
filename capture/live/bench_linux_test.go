package live

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/veth"
)

// BenchmarkCapture captures 10 s of 300,000 frames of 1 KiB a second: bare is
// nothing but a loop over the blocks of the ring, Next is what gives frames. It
// reports what was sent and dropped, and the time that the reading thread had a
// CPU for each frame. Run it with -benchtime 1x.
func BenchmarkCapture(b *testing.B) {
	for _, c := range []struct {
		name string
		read func(c *Capture) int
	}{{"bare", readBare}, {"Next", readNext}} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				veth.Enter(b)
				benchmark(b, c.read)
			}
		})
	}
}

func benchmark(b *testing.B, read func(c *Capture) int) {
	const seconds, rate = 10, 300_000
	stop := make(chan struct{})
	c, err := Open(Options{Interfaces: []string{veth.B}, Stop: stop})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	sender := veth.NewSender(b, veth.A)
	var sent atomic.Int64
	begin := time.Now()
	go func() {
		runtime.LockOSThread()
		defer close(stop)
		frame := make([]byte, 1024)
		copy(frame, "\x02\x00\x00\x00\x00\x0b\x02\x00\x00\x00\x00\x0a\x89\x15")
		batch := sender.NewBatch(frame, 30)
		for time.Since(begin) < seconds*time.Second {
			batch.Send() // and then as long as is left of 100 us
			for due := time.Duration(sent.Add(30)) * time.Second / rate; time.Since(begin) < due; {
			}
		}
	}()
	before := threadTime(b)
	got := read(c)
	spent := threadTime(b) - before
	drops := c.Interfaces()[0].Drops
	if int64(got)+int64(drops) != sent.Load() {
		b.Errorf("%d captured and %d dropped of %d", got, drops, sent.Load())
	}
	b.ReportMetric(float64(sent.Load())/seconds, "frames/s")
	b.ReportMetric(float64(drops), "drops")
	b.ReportMetric(float64(spent.Nanoseconds())/float64(got), "cpu-ns/frame")
}

func readNext(c *Capture) (n int) {
	var f dissect.Frame
	for c.Next(&f) == nil {
		touched += int(f.Data[12])
		n++
	}
	return n
}

var touched int

func readBare(c *Capture) (n int) {
	r := c.rings[0]
	for {
		h := r.blockHeader()
		if atomic.LoadUint32(&h.Block_status)&unix.TP_STATUS_USER == 0 {
			select {
			case <-c.options.Stop:
				if time.Sleep(settle); atomic.LoadUint32(&h.Block_status)&unix.TP_STATUS_USER == 0 {
					return n
				}
			default:
				if _, err := unix.Poll(c.polls, glance); err != nil && !errors.Is(err, unix.EINTR) {
					return n
				}
			}
			continue
		}
		r.next = r.block*blockSize + int(h.Offset_to_first_pkt)
		for range h.Num_pkts {
			p := r.header()
			touched += int(r.memory[r.next+int(p.Mac)+12])
			r.next += int(p.Next_offset)
			n++
		}
		r.release()
	}
}

// threadTime is the CPU time of this thread.
func threadTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
