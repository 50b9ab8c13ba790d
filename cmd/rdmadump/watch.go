package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// watchFlags are the flags of analyses that a live capture alone has.
type watchFlags struct {
	live  liveFlags
	idle  period
	count number
}

// register adds the flags to a command.
func (w *watchFlags) register(command *cobra.Command) {
	w.idle = period(10 * time.Minute)
	w.live.register(command)
	f := command.Flags()
	f.Var(&w.idle, "idle", "let go connections of a live capture of which nothing came for a `time`")
	f.VarP(&w.count, "count", "c", "end a live capture after `N` packets")
}

// args is the argument check; more names flags of the command that only a live
// capture has.
func (w *watchFlags) args(command *cobra.Command, names []string, more ...string) error {
	for _, name := range append(more, "idle", "count") {
		if !w.live.given() && command.Flags().Changed(name) {
			return cli.Usage(command, "--%s wants -i IFACE", name)
		}
	}
	return w.live.args(command, names)
}

// watch follows an analysis of what comes on interfaces, for days if need be: it
// lets out what was found, lets idle connections go, and tells of drops.
type watch struct {
	*watchFlags
	analyzer *dissect.Analyzer
	part     *capture.Part // nil before it is opened
	out      *output
	slow     *outlet
	ticks    *time.Ticker
	tick     func(now time.Time, at int64) // at is the time by the clock of the frames
	quiet    func()                        // called while there are no frames
	drops    uint64                        // told to the analyzer
	newest   int64                         // time of a frame
}

// begin makes the output of s one that does not wait for its reader, and lets
// tick be called at intervals.
func (w *watchFlags) begin(s streams, every time.Duration) *watch {
	slow := newOutlet(s.out)
	out := newOutput(slow)
	_, out.live = cli.Terminal(s.out)
	return &watch{watchFlags: w, out: out, slow: slow, ticks: time.NewTicker(every)}
}

// follow has a pass that feeds the analyzer with what is chosen tell of what it
// reads.
func (w *watch) follow(reading *pass, analyzer *dissect.Analyzer, chosen *selection) {
	w.analyzer = analyzer
	open, feed, told := reading.open, reading.frame, reading.streams
	reading.waiting, reading.broken = w.waiting, w.slow.broken
	reading.open = func(part *capture.Part) {
		open(part)
		w.part = part
	}
	reading.frame = func(f *dissect.Frame) error {
		if err := feed(f); err != nil {
			return err
		}
		return w.frame(f)
	}
	reading.close = func(i int, part *capture.Part, fault error) error {
		analyzer.CloseCapture(i, part.Info().Drops-w.drops, fault)
		if in := analyzer.Input(i); fault == nil && in.RDMAFrames == 0 && chosen.chosen() == nil {
			told.tellNone(in.File, report.NoPackets{Frames: int(in.Frames), Fragments: int(in.Fragments)})
		}
		return nil
	}
}

// frame is called behind each frame.
func (w *watch) frame(f *dissect.Frame) error {
	w.newest = f.Time
	w.look()
	if w.count > 0 && w.analyzer.Input(0).RDMAFrames >= int64(w.count) {
		w.tellDrops()
		return errStop
	}
	return w.out.err
}

// waiting is called while there are no frames.
func (w *watch) waiting() {
	w.look()
	if w.quiet != nil {
		w.quiet()
	}
	_ = w.out.flush()
}

// look does what is to be done now and then, if it is time.
func (w *watch) look() {
	select {
	case now := <-w.ticks.C:
		if w.part == nil {
			return
		}
		w.tellDrops()
		// Time stands still where no frames come, so connections are idle by the
		// clock of this machine, unless frames have another one.
		at := now.UnixNano()
		if w.live.hardware {
			at = w.newest
		}
		w.analyzer.RetireIdle(at - int64(w.idle))
		if w.tick != nil {
			w.tick(now, at)
		}
	default:
	}
}

// tellDrops tells the analyzer what the kernel dropped, so that it takes no gap
// of that for loss.
func (w *watch) tellDrops() {
	if drops := w.part.Info().Drops; drops > w.drops {
		w.analyzer.AddDrops(0, drops-w.drops)
		w.drops = drops
	}
}

// end ends it, with what was found let out.
func (w *watch) end() error {
	w.ticks.Stop()
	return w.out.flush()
}
