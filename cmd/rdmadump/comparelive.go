package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/dissect/twopoint"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// liveArgs is the argument check of a comparison of interfaces.
func (flags *compareFlags) liveArgs(command *cobra.Command, names []string) error {
	if err := flags.live.args(command, names); err != nil {
		return err
	}
	for _, name := range [...]string{"qpn", "from", "to"} {
		if command.Flags().Changed(name) {
			return cli.Usage(command, "--%s wants captures, which can be read twice", name)
		}
	}
	points := flags.live.interfaces
	for i, name := range points {
		switch {
		case name == live.Any:
			return cli.Usage(command, "compare wants the interfaces of two points, not %s", live.Any)
		case points.index(name) < i:
			return cli.Usage(command, "compare wants different interfaces, %s is named twice", name)
		}
	}
	if len(points) < 2 || len(points) > maxPoints {
		return cli.Usage(command, "compare wants 2 to %d interfaces", maxPoints)
	}
	return nil
}

// lateness is how much later than a frame was received one that was received
// before it may come from another interface.
const lateness = time.Second

// runLive compares what passes interfaces of this host. Without a comparison the
// error says why.
func (flags *compareFlags) runLive(s streams, config twopoint.Config) (*twopoint.Comparison, error) {
	points := flags.live.interfaces
	comparer := twopoint.NewComparer(config, points...)
	var reader *capture.Part
	reading := pass{streams: s, live: flags.live.options(flags.ports)}
	reading.open = func(part *capture.Part) { reader = part }
	reading.frame = func(f *dissect.Frame) error {
		f.File = f.Interface
		comparer.Frame(f)
		return nil
	}
	reading.waiting = func() {
		if flags.live.hardware {
			return
		}
		for i := range points { // which tells more than waiting for a frame does
			comparer.Quiet(i, time.Now().Add(-lateness).UnixNano())
		}
	}
	reading.close = func(_ int, part *capture.Part, fault error) error {
		for i, in := range part.Info().Interfaces {
			comparer.Close(i, part.Info().Format, in.Drops, fault)
		}
		return nil
	}
	failed := reading.run(nil)
	if reader == nil {
		return nil, failed
	}
	result := comparer.Comparison()
	for i := range result.Captures {
		if in := &result.Captures[i]; failed == nil && in.RDMAFrames == 0 && config.Selection == nil {
			s.tellNone(in.File, report.NoPackets{Frames: int(in.Frames), Fragments: int(in.Fragments)})
		}
	}
	return result, failed
}
