package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/inject"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/sim"
)

// sendFlags are the flags of send.
type sendFlags struct {
	name  string
	rate  sim.Rate
	pace  inject.Pace
	count int64
	loop  int
}

func newSend(s streams) *cobra.Command {
	flags := sendFlags{}
	command := &cobra.Command{
		Use:   "send -i IFACE [flags] CAPTURE",
		Short: "Put the frames of a capture on a live interface",
		Long: `send puts the frames of a capture, - for standard input, on a network interface:
all of them, as they are, at the times that the capture has between them, or at
a rate. It needs Linux and the right CAP_NET_RAW; frames must be Ethernet.
Frames that were captured in part are left out, which is an error at the end.
Ctrl-C ends sending; what was sent is reported either way.`,
		Example: `  rdmagen send -i eth0 x.pcap
  rdmagen flow --loss 0.01 | rdmagen send -i eth0 --rate 1Gb/s -
  rdmagen send -i veth0 --pps 1000 --loop 10 x.pcap`,
		Args: oneCapture,
		RunE: func(command *cobra.Command, args []string) error {
			if err := flags.check(command, args[0]); err != nil {
				return err
			}
			return flags.run(s, args[0])
		},
	}
	f := command.Flags()
	f.SortFlags = false
	f.StringVarP(&flags.name, "interface", "i", "", "send on the interface `IFACE`")
	f.Var(&rateFlag{&flags.rate}, "rate", "send at this rate, such as 10Gb/s, counting whole frames without FCS")
	f.Float64Var(&flags.pace.PPS, "pps", 0, "send `N` frames a second")
	f.BoolVar(&flags.pace.TopSpeed, "topspeed", false, "send as fast as the interface takes them")
	f.Int64Var(&flags.count, "count", 0, "send `N` frames at most (default all)")
	f.IntVar(&flags.loop, "loop", 1, "send the capture `N` times, 0 for ever")
	return command
}

// rateFlag is the value of --rate.
type rateFlag struct{ *sim.Rate }

func (r *rateFlag) String() string     { return "" }
func (r *rateFlag) Type() string       { return "rate" }
func (r *rateFlag) Set(s string) error { return r.UnmarshalText([]byte(s)) }

// check finds what is wrong with the flags.
func (c *sendFlags) check(command *cobra.Command, name string) error {
	changed := command.Flags().Changed
	paces := 0
	for _, flag := range []string{"rate", "pps", "topspeed"} {
		if changed(flag) {
			paces++
		}
	}
	switch {
	case c.name == "":
		return cli.Usage(command, "name an interface with -i")
	case paces > 1:
		return cli.Usage(command, "--rate, --pps and --topspeed exclude each other")
	case changed("pps") && !(c.pace.PPS > 0 && !math.IsInf(c.pace.PPS, 0)):
		return cli.Usage(command, "--pps wants a number above 0")
	case c.count < 0 || changed("count") && c.count == 0:
		return cli.Usage(command, "--count wants a number above 0")
	case c.loop < 0:
		return cli.Usage(command, "--loop wants a number, 0 for ever")
	case c.loop != 1 && name == "-":
		return cli.Usage(command, "--loop wants a file: standard input can be read once only")
	}
	c.pace.Rate = float64(c.rate)
	return nil
}

// run sends the capture.
func (c *sendFlags) run(s streams, name string) error {
	out, err := inject.Open(c.name)
	if err != nil {
		return s.hinted(err)
	}
	defer out.Close()
	interrupted, restore := signal.NotifyContext(context.Background(), cli.EndSignals()...)
	defer restore()
	context.AfterFunc(interrupted, restore) // a second one ends the program at once
	t := &sending{sendFlags: c, out: out, clock: inject.NewClock(c.pace), start: time.Now()}
	for round := 0; err == nil && (c.loop == 0 || round < c.loop); round++ {
		before := t.frames
		err = t.send(interrupted, s, name)
		if err == nil && t.frames == before {
			break // an empty capture would be read for ever
		}
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	if t.frames > 0 || err == nil {
		s.complain(errors.New(t.report()))
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, capture.ErrStopped) {
		return errInterrupted
	}
	if err == nil && t.cut > 0 {
		return fmt.Errorf("%s: %d frames were left out: the capture has them in part only", name, t.cut)
	}
	return err
}

// hinted writes a hint behind the message.
func (s streams) hinted(err error) error {
	var e *inject.Error
	if !errors.As(err, &e) || e.Hint == "" {
		return err
	}
	s.complain(err)
	s.complain(errors.New("hint: " + e.Hint))
	return cli.ErrReported
}

// errEnough ends sending at --count.
var errEnough = errors.New("enough")

// sending is a send under way.
type sending struct {
	*sendFlags
	out   *inject.Interface
	clock *inject.Clock
	start time.Time

	frames, bytes, cut int64
}

// send sends the capture once.
func (t *sending) send(ctx context.Context, s streams, name string) error {
	source := capture.Source{Name: name, Stop: ctx.Done()}
	if name == "-" {
		source.Name, source.Stream = "standard input", s.in
	}
	in, err := source.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	t.clock.Round()
	f := dissect.Frame{}
	for err = in.Next(&f); err == nil; err = in.Next(&f) {
		if err := t.frame(ctx, source.Name, &f); err != nil {
			return err
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func (t *sending) frame(ctx context.Context, name string, f *dissect.Frame) error {
	switch {
	case f.Link != dissect.LinkEthernet:
		return fmt.Errorf("%s: frame %d: %v cannot be sent, Ethernet only", name, f.Number, f.Link)
	case f.WireLen > len(f.Data):
		t.cut++
		return nil
	}
	if !t.pace.TopSpeed && !inject.Wait(ctx, t.start.Add(t.clock.Due(f.Time, len(f.Data)))) || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := t.out.Send(ctx, f.Data); err != nil {
		if e := (*inject.Error)(nil); errors.As(err, &e) {
			return fmt.Errorf("%s: frame %d: %w", name, f.Number, err)
		}
		return err
	}
	t.frames++
	t.bytes += int64(len(f.Data))
	if t.frames == t.count {
		return errEnough
	}
	return nil
}

// report says what was sent.
func (t *sending) report() string {
	took := time.Since(t.start)
	frames := "frames"
	if t.frames == 1 {
		frames = "frame"
	}
	return fmt.Sprintf("%s: %d %s sent, %d bytes, in %v (%v, %.0f frames a second)", t.name, t.frames, frames, t.bytes,
		took.Round(time.Microsecond), rounded(float64(t.bytes)*8/took.Seconds()), float64(t.frames)/took.Seconds())
}

// rounded is a rate to three digits.
func rounded(bits float64) sim.Rate {
	if bits <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(bits))-2)
	return sim.Rate(math.Round(bits/unit) * unit)
}
