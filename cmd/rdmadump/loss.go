package main

import (
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// lossFlags are the flags of loss.
type lossFlags struct {
	json       bool
	events     bool
	failOnLoss bool
	maxGaps    number
	maxHalves  number
	gaps       gapChoice
	color      cli.Colors
	ports      udpPorts
	selection  selection
	stated     stated
	watch      watchFlags
	every      period
}

func newLoss(s streams) *cobra.Command {
	flags := lossFlags{gaps: "missing", color: "auto", every: period(10 * time.Second)}
	command := &cobra.Command{
		Use:   "loss [flags] FILE... | -i IFACE",
		Short: "Explain which packets were lost, where, and what it cost",
		Long: `loss follows every connection of captures and reports what was lost: first a
verdict, then the connections, the worst first, then the gaps of the worst:
which PSNs, on which side of the capture point, how that is known, how the gap
closed, and what was sent again for it. What a capture cannot tell is reported
as undecided, not as lost.

FILE is a pcap or pcapng file, plain or compressed, or - for standard input.
Several files are of one tap: a rotation, or files whose times overlap, such as
those of two ports; frames go in order of time.
` + selectionHelp + `
--qpn chooses the connection that a queue pair is an end of, and --filter those
of which any packet matches: all their packets are followed, so that nothing
left out looks lost. What is counted of the capture itself is not narrowed by
them.
` + liveHelp + `
Live, events are printed as they happen and summed up now and then; the report
follows at the end. With --json each event is an object on a line, and the
report is the last line.`,
		Example: `  rdmadump loss trace.pcap
  rdmadump loss --qpn 0x000222 trace.pcap     the connection of one queue pair
  rdmadump loss --from 15:51:06 --to 15:52 trace.pcap
  rdmadump loss --fail-on-loss trace.pcap     exit status 3 if anything was lost
  rdmadump loss --json trace.pcap | jq '.totals'
  rdmadump loss --pair 192.0.2.1/0x222=192.0.2.2/0x111 trace.pcap
  rdmadump loss --assume irn --side receiver trace.pcap
  rdmadump loss rotated-*.pcap.gz
  rdmadump loss -i eth0 --every 1m
  tcpdump -i eth0 -U -w - udp port 4791 | rdmadump loss --events -`,
		Args: func(command *cobra.Command, names []string) error {
			return flags.watch.args(command, names, "every")
		},
		RunE: func(command *cobra.Command, names []string) error {
			if err := s.apart(names); err != nil {
				return cli.UsageError{Err: err, Command: command.CommandPath()}
			}
			return flags.run(s, names)
		},
	}
	f := command.Flags()
	f.BoolVar(&flags.json, "json", false, "print the report as a JSON object")
	f.BoolVar(&flags.events, "events", false, "print events as they happen, a JSON object a line, in place of the report; with --json the report follows as the last line")
	f.BoolVar(&flags.failOnLoss, "fail-on-loss", false, "exit with status 3 if packets were lost")
	f.Var(&flags.maxGaps, "max-gaps", "list at most `N` gaps a stream, the worst (default 1000 in JSON, 10 in text)")
	f.Var(&flags.maxHalves, "max-halves", "follow at most `N` directions of connections at a time (default 131072)")
	f.Var(&flags.gaps, "gaps", "missing: gaps of packets that were missing; all: those of reordered packets too")
	f.Var(&flags.ports, "udp-port", portUsage)
	flags.selection.register(command)
	flags.stated.register(command)
	flags.watch.register(command)
	f.Var(&flags.every, "every", "sum up a live capture at intervals of a `time`")
	f.Var(&flags.color, "color", cli.ColorUsage)
	return command
}

// run reports on the captures called names.
func (flags *lossFlags) run(s streams, names []string) error {
	locator := dissect.Locator{UDPPorts: flags.ports}
	learn := noForesight
	if flags.events {
		learn = learnMatches
	}
	if err := flags.selection.survey(s, names, learn, locator); err != nil {
		return err
	}
	config := dissect.Config{
		Locator:       locator,
		MaxGaps:       flags.keep(),
		MaxHalves:     int(flags.maxHalves),
		ReorderedGaps: flags.gaps == "all",
		Selection:     flags.selection.chosen(),
	}
	flags.stated.fill(&config)
	var told *eventLog
	var live *teller
	switch {
	case flags.watch.live.given():
		live = newTeller(flags.watch.begin(s, time.Duration(flags.every)), flags.json || flags.events)
		config.Events = live.event
	case flags.events:
		told = newEventLog(newOutput(s.out))
		config.Events = told.event
	}
	holdMemory(config.MaxHalves)
	analyzer := dissect.NewAnalyzer(config)
	reading, opened := analysis(s, analyzer, &flags.selection, told)
	if live != nil {
		reading.live = flags.watch.live.options(flags.ports)
		live.follow(&reading, analyzer, &flags.selection)
	}
	failed := reading.run(names)
	if !*opened && !flags.json || errors.As(failed, &cli.UsageError{}) {
		return failed
	}
	out := s.out
	switch {
	case live != nil:
		out = live.slow // the report must not overtake the events
		analyzer.End()
		if err := live.end(); err != nil {
			return err
		}
	case told != nil:
		analyzer.End()
		if err := told.out.flush(); err != nil {
			return err
		}
	}
	result := analyzer.Report()
	if result.Selection != nil {
		flags.selection.missed(s, result.Totals.Packets)
	}
	flags.stated.missed(s, result)
	if !flags.events || flags.json {
		if err := flags.print(out, s.out, result); err != nil {
			return err
		}
	}
	if live != nil {
		failed = cmp.Or(failed, live.slow.close())
	}
	if failed == nil && flags.failOnLoss && result.Totals.Lost > 0 {
		return cli.ErrFound
	}
	return failed
}

// keep is how many gaps of a stream the report needs: the text sums up more than it
// lists.
func (flags *lossFlags) keep() int {
	if flags.json {
		return int(flags.maxGaps)
	}
	return max(int(flags.maxGaps), dissect.DefaultMaxGaps)
}

// print writes the report to out, as it suits where that leads.
func (flags *lossFlags) print(out, where io.Writer, r *dissect.Report) error {
	if flags.json {
		return cli.WriteError(report.LossJSON(out, r))
	}
	text := report.Loss{Style: flags.color.Style(where), Width: cli.Width(where), Rows: 20, Detail: 5, Gaps: 10}
	if flags.maxGaps > 0 {
		text.Gaps = int(flags.maxGaps)
	}
	return cli.WriteError(text.Write(out, r))
}

// gapChoice is the value of --gaps.
type gapChoice string

func (g *gapChoice) String() string { return string(*g) }
func (g *gapChoice) Type() string   { return "which" }

func (g *gapChoice) Set(s string) error {
	if s != "missing" && s != "all" {
		return errors.New("want missing or all")
	}
	*g = gapChoice(s)
	return nil
}
