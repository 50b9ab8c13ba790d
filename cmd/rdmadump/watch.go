package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// watchFlags are the flags of loss that a live capture alone has.
type watchFlags struct {
	live  liveFlags
	every period
	idle  period
	count number
}

// register adds the flags to a command.
func (w *watchFlags) register(command *cobra.Command) {
	w.every, w.idle = period(10*time.Second), period(10*time.Minute)
	w.live.register(command)
	f := command.Flags()
	f.Var(&w.every, "every", "sum up a live capture at intervals of a `time`")
	f.Var(&w.idle, "idle", "let go connections of a live capture of which nothing came for a `time`")
	f.VarP(&w.count, "count", "c", "end a live capture after `N` packets")
}

// args is the argument check.
func (w *watchFlags) args(command *cobra.Command, names []string) error {
	for _, name := range [...]string{"every", "idle", "count"} {
		if !w.live.given() && command.Flags().Changed(name) {
			return cli.Usage(command, "--%s wants -i IFACE", name)
		}
	}
	return w.live.args(command, names)
}

// watch follows a live analysis: it prints events, sums up, and lets go.
type watch struct {
	*watchFlags
	analyzer *dissect.Analyzer
	part     *capture.Part // nil before it is opened
	out      *output
	slow     *outlet
	events   *eventLog // nil for text
	ticks    *time.Ticker
	last     time.Time // of the last summary
	packets  int64     // at that time
	drops    uint64    // told to the analyzer
	newest   int64     // time of a frame
}

// begin makes the output of s one that does not wait for its reader.
func (w *watchFlags) begin(s streams, json bool) *watch {
	slow := newOutlet(s.out)
	out := newOutput(slow)
	_, out.live = cli.Terminal(s.out)
	n := &watch{watchFlags: w, out: out, slow: slow, ticks: time.NewTicker(time.Duration(w.every)), last: time.Now()}
	if json {
		n.events = newEventLog(out)
	}
	return n
}

// follow has a pass that feeds the analyzer tell of what it reads.
func (w *watch) follow(reading *pass, analyzer *dissect.Analyzer) {
	w.analyzer = analyzer
	open, feed := reading.open, reading.frame
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
		return nil
	}
}

// event prints an event.
func (w *watch) event(e *dissect.Event) {
	if w.events != nil {
		w.events.event(e)
		return
	}
	w.line(report.EventLine(e))
}

func (w *watch) line(text string) {
	w.out.b = append(append(w.out.b, report.Visible(text)...), '\n')
	_ = w.out.packet() // the next frame tells of a fault
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
	_ = w.out.flush()
}

// look sums up if it is time.
func (w *watch) look() {
	select {
	case now := <-w.ticks.C:
		w.sumUp(now)
	default:
	}
}

func (w *watch) sumUp(now time.Time) {
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
	s := report.Summary{Event: "summary", Time: dissect.Time(at), Totals: w.analyzer.SoFar(), CaptureDrops: w.drops}
	rate := float64(s.Totals.Packets-w.packets) / max(now.Sub(w.last).Seconds(), 1e-9)
	w.last, w.packets = now, s.Totals.Packets
	if w.events != nil {
		_ = w.events.encoder.Encode(&s)
		return
	}
	w.line(report.SummaryLine(&s, rate))
}

// tellDrops tells the analyzer what the kernel dropped, so that it takes no gap
// of that for loss.
func (w *watch) tellDrops() {
	if drops := w.part.Info().Drops; drops > w.drops {
		w.analyzer.AddDrops(0, drops-w.drops)
		w.drops = drops
	}
}

// end stops summing up.
func (w *watch) end() error {
	w.ticks.Stop()
	return w.out.flush()
}
