package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/conform"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// checkFlags are the flags of check.
type checkFlags struct {
	json      bool
	list      bool
	rules     string
	ignore    string
	each      number
	cThresh   number
	tThresh   time.Duration
	irnCap    number
	mpSlots   number
	maxHalves number
	color     cli.Colors
	ports     udpPorts
	selection selection
	stated    stated
	watch     watchFlags
}

func newCheck(s streams) *cobra.Command {
	flags := checkFlags{color: "auto", each: 10}
	command := &cobra.Command{
		Use:   "check [flags] FILE... | -i IFACE",
		Short: "Check whether the ends keep to the rules of their transport",
		Long: `check judges the traffic of captures by what its transport promises, and prints
a line for each rule that was broken: the rule, the frames that show it, and
what was said or sent in place of what. A note is no violation, but worth a
look.

A capture point sees neither end, so that a rule counts as broken only where no
loss on either side explains what was seen. What depends on where the capture
point is waits for the end of the connection; --side states it.

FILE is a pcap or pcapng file, plain or compressed, or - for standard input.
Several files are of one tap: a rotation, or files whose times overlap, such as
those of two ports; frames go in order of time.
` + liveHelp + selectionHelp + `
--filter chooses connections of which any packet matches. All their packets are
checked; from a pipe or an interface, from the first match on.

Exit status: 0 no violation; 1 some input could not be read, or not to its end;
2 wrong usage; 3 violations were found. Notes alone are 0.`,
		Example: `  rdmadump check trace.pcap
  rdmadump check --list                      the rules, and where they come from
  rdmadump check --rules one-nak,icrc trace.pcap
  rdmadump check --ignore early-timeout trace.pcap
  rdmadump check --side sender trace.pcap
  rdmadump check --json trace.pcap | jq -r .rule | sort | uniq -c`,
		Args: func(command *cobra.Command, args []string) error {
			if flags.list {
				return cli.NoArguments(command, args)
			}
			return flags.watch.args(command, args)
		},
		RunE: func(command *cobra.Command, names []string) error {
			rules, err := flags.chosen()
			if err != nil {
				return cli.Usage(command, "%w", err)
			}
			if flags.list {
				return flags.printRules(s)
			}
			return flags.run(s, rules, names)
		},
	}
	f := command.Flags()
	f.BoolVar(&flags.json, "json", false, "print a JSON object a line, one for each violation or note")
	f.BoolVar(&flags.list, "list", false, "print the rules, with what they say and where they are laid down")
	f.StringVar(&flags.rules, "rules", "", "check these `rules` only, with commas between them")
	f.StringVar(&flags.ignore, "ignore", "", "do not check these `rules`")
	f.Var(&flags.each, "each", "print at most `N` lines of a rule in text, and count the rest")
	f.Var(&flags.cThresh, "c-thresh", "windowless: `packets` of one report, as the ends have agreed")
	f.DurationVar(&flags.tThresh, "t-thresh", 0, "windowless: longest `time` of one report, such as 20us")
	f.Var(&flags.irnCap, "irn-cap", "IRN: `packets` that may be in flight (BDP-FC), as the ends have agreed")
	f.Var(&flags.mpSlots, "mp-slots", "MP-RDMA: `packets` that the receiver has room for out of order")
	f.Var(&flags.maxHalves, "max-halves", "follow at most `N` directions of connections at a time (default 131072)")
	f.Var(&flags.ports, "udp-port", portUsage)
	flags.selection.register(command)
	flags.stated.register(command)
	flags.watch.register(command)
	f.Var(&flags.color, "color", cli.ColorUsage)
	return command
}

// chosen is the rules that the flags choose.
func (flags *checkFlags) chosen() (rules conform.RuleSet, err error) {
	if flags.rules != "" {
		if rules, err = conform.Only(flags.rules); err != nil {
			return rules, fmt.Errorf("--rules: %w", err)
		}
	}
	if flags.ignore != "" {
		if rules, err = rules.Without(flags.ignore); err != nil {
			return rules, fmt.Errorf("--ignore: %w", err)
		}
	}
	if rules.Empty() {
		return rules, errors.New("--ignore leaves no rule to check")
	}
	return rules, nil
}

func (flags *checkFlags) printRules(s streams) error {
	list := make([]report.Rule, 0, len(conform.Rules()))
	for _, r := range conform.Rules() {
		list = append(list, report.Rule{Name: r.Name, Severity: string(r.Severity), Source: r.Source, Text: r.Text, About: r.About, Judged: r.Judged})
	}
	if flags.json {
		encoder := json.NewEncoder(s.out)
		encoder.SetEscapeHTML(false)
		for _, r := range list {
			if err := encoder.Encode(r); err != nil {
				return cli.WriteError(err)
			}
		}
		return nil
	}
	return cli.WriteError(report.Rules(s.out, list, flags.color.Style(s.out), cli.Width(s.out)))
}

// run checks the captures called names.
func (flags *checkFlags) run(s streams, rules conform.RuleSet, names []string) error {
	locator := dissect.Locator{UDPPorts: flags.ports}
	if err := flags.selection.survey(s, names, learnMatches, locator); err != nil {
		return err
	}
	config := dissect.Config{
		Locator:   locator,
		MaxGaps:   1,
		MaxHalves: int(flags.maxHalves),
		Selection: flags.selection.chosen(),
	}
	flags.stated.fill(&config)
	violations, out := 0, newEventLog(newOutput(s.out))
	var live *watch
	if flags.watch.live.given() {
		live = flags.watch.begin(s, time.Second)
		out = newEventLog(live.out)
	}
	text := report.NewCheck(out, flags.color.Style(s.out), cli.Width(s.out), int(flags.each))
	checker := conform.NewChecker(conform.Config{Rules: rules, Tap: config.Tap, Thresholds: conform.Thresholds{Packets: int(flags.cThresh), Time: flags.tThresh},
		Cap: int(flags.irnCap), Slots: int(flags.mpSlots), Files: len(names) > 1, Found: func(v *conform.Violation) {
			if v.Severity == conform.Violates {
				violations++
			}
			if flags.json {
				_ = out.encoder.Encode(v)
				return
			}
			text.Violation(&report.Violation{Rule: v.Rule, Severity: string(v.Severity), Frames: v.Frames, File: v.File,
				Connection: v.Connection, Src: v.Src, Dst: v.Dst, DestQP: v.DestQP, Text: v.Text})
		}})
	config.Follow, config.Leave = checker.Follow, checker.Leave
	holdMemory(config.MaxHalves)
	analyzer := dissect.NewAnalyzer(config)
	reading, opened := analysis(s, analyzer, &flags.selection, out)
	if live != nil {
		reading.live = flags.watch.live.options(flags.ports)
		live.follow(&reading, analyzer, &flags.selection)
	}
	failed := reading.run(names)
	checker.End()
	if !*opened || errors.As(failed, &cli.UsageError{}) {
		return failed
	}
	result := analyzer.Report()
	if result.Selection != nil {
		flags.selection.missed(s, result.Totals.Packets)
	}
	flags.stated.missed(s, result)
	if !flags.json {
		var drops uint64
		for i := range result.Captures {
			drops += result.Captures[i].CaptureDrops
		}
		text.Sum(result.Totals.Packets, int64(result.Totals.Connections), drops)
	}
	if err := out.out.flush(); err != nil {
		return err
	}
	if live != nil {
		live.ticks.Stop()
		failed = cmp.Or(failed, live.slow.close())
	}
	if failed == nil && violations > 0 {
		return cli.ErrFound
	}
	return failed
}
