package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// selection is what the flags say that choose packets by connection, host, time
// and what is in them. When that is, is known at the first frame: see begin.
type selection struct {
	dissect.Selection
	packets  packetFilter
	from, to moment
	last     int64 // time of the last frame, once surveyed
	begun    bool
	command  string // whose flags these are
}

// register adds the flags to a command.
func (s *selection) register(command *cobra.Command) {
	s.command = "rdmadump " + command.Name()
	f := command.Flags()
	f.Var((*qpns)(&s.QPNs), "qpn", "choose queue pair `N`, hexadecimal (0x000222) or decimal (546); may be repeated")
	f.Var((*hosts)(&s.Hosts), "host", "choose packets from or to an `address`, a network (192.0.2.0/24) or lid:4; may be repeated")
	f.Var(&s.from, "from", "choose packets from a `time` on: 2026-11-30T15:51:06.44Z, 15:51:06 (UTC), seconds since 1970, +1.5s (after the first frame), -5s (before the last)")
	f.Var(&s.to, "to", "choose packets before a `time`")
	s.packets.register(f)
	command.PreRunE = func(command *cobra.Command, _ []string) error {
		return s.packets.parse(&s.Selection, command.CommandPath())
	}
}

// selectionHelp explains the flags in a command's help.
const selectionHelp = `
--qpn, --host, --from and --to choose a part: what meets all the flags that are
given, and any one of several queue pairs or hosts. A time of day is of the
first frame's day, UTC, or of the next day where the capture runs past midnight.

--filter chooses by what is in packets, with the keys of read --json:
    --filter 'opcode_name contains "READ" and bth.psn in 100..200'
    --filter 'aeth.syndrome >= 0x60 and src in cidr("10.0.0.0/8")'
A comparison with a field that a packet does not have is false; has(aeth) asks.
--opcode, --psn and --carrier are short for the expressions most in use.
`

// chosen is the selection, nil for everything. It is complete after begin.
func (s *selection) chosen() *dissect.Selection {
	if s.Everything() && !s.from.Given() && !s.to.Given() {
		return nil
	}
	return &s.Selection
}

// begin settles the times, which may count from the first frame. The error is
// that no time is from the one to the other.
func (s *selection) begin(first int64) error {
	if s.begun {
		return nil
	}
	s.begun = true
	if s.from.Given() {
		at := s.from.At(first, s.last)
		s.From = &at
	}
	if s.to.Given() {
		at := s.to.At(first, s.last)
		s.To = &at
	}
	s.packets.begin(first, s.last)
	if s.From != nil && s.To != nil && *s.From >= *s.To {
		return cli.UsageError{Err: fmt.Errorf("--from %s (%s) is not before --to %s (%s)",
			s.from.text, report.Moment(*s.From), s.to.text, report.Moment(*s.To)), Command: s.command}
	}
	return nil
}

// missed says what no packet met: all of the selection, or a queue pair or host
// of several.
func (s *selection) missed(std streams, selected int64) {
	if selected == 0 {
		std.complain(fmt.Errorf("nothing selected, no RDMA packet meets: %s", report.Selected(&s.Selection)))
		return
	}
	queues, hosts := s.Unmet()
	for _, n := range queues {
		std.complain(fmt.Errorf("no selected packet is from or to --qpn %v", n))
	}
	for _, h := range hosts {
		std.complain(fmt.Errorf("no selected packet is from or to --host %v", h))
	}
}

// foresight is what of captures is to be known before they are read.
type foresight uint8

const (
	noForesight  foresight = iota
	learnPairs             // the other ends of connections that --qpn names
	learnMatches           // that, and the connections that have a packet which the filter takes
)

// survey reads captures ahead, where the flags ask for what only the whole of
// them tells: the time of the last frame, and what is to be learned. A pipe cannot be
// read twice, so that what is to be learned of it stays unknown.
func (s *selection) survey(std streams, names []string, learn foresight, locator dissect.Locator) error {
	pairs := learn >= learnPairs && len(s.QPNs) > 0
	matches := learn == learnMatches && s.Packets != nil
	_, filtered := s.packets.timed()
	flag := ""
	switch {
	case s.from.FromLast():
		flag = "--from " + s.from.text
	case s.to.FromLast():
		flag = "--to " + s.to.text
	case filtered:
		flag = "a time in --filter"
	case !pairs && !matches:
		return nil
	}
	if len(names) == 0 { // a live capture
		if flag != "" {
			return fmt.Errorf("%s counts from the last frame, which a live capture does not know", flag)
		}
		return nil
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if name != "-" && (err != nil || info.Mode().IsRegular()) {
			continue
		}
		if flag != "" {
			return fmt.Errorf("%s counts from the last frame, which a pipe does not tell ahead: name a file in place of %s", flag, name)
		}
		return nil
	}
	std.err = io.Discard // the next reading tells what is wrong
	if matches && flag != "" {
		s.readAhead(std, names, nil, func(*dissect.Frame) {}) // which packets match may hang on the last one's time
	}
	config := dissect.Config{Locator: locator, MaxGaps: 1}
	wanted := dissect.Selection{Hosts: s.Hosts, Packets: s.Packets}
	if matches {
		config.Selection = &dissect.Selection{Packets: wanted.Takes}
	}
	analyzer := dissect.NewAnalyzer(config)
	s.readAhead(std, names, analyzer, func(f *dissect.Frame) {
		if matches && s.begin(f.Time) == nil {
			wanted.From, wanted.To = s.From, s.To
		}
		if pairs || matches {
			analyzer.Frame(f)
		}
	})
	s.begun = false // what is wrong with the times, the next reading tells
	if pairs {
		s.Learn(analyzer.Report())
	}
	if matches {
		s.LearnMatches(analyzer)
	}
	return nil
}

// readAhead reads captures for the time of the last frame, and gives their frames to
// visit. An analyzer, if not nil, is told of the captures.
func (s *selection) readAhead(std streams, names []string, analyzer *dissect.Analyzer, visit func(*dissect.Frame)) {
	ahead := pass{streams: std, abreast: true}
	ahead.open = func(part *capture.Part) {
		if analyzer != nil {
			analyzer.OpenCapture(part.Info().Name, part.Info().Format)
		}
	}
	begun, last := false, int64(0)
	ahead.frame = func(f *dissect.Frame) error {
		if !begun || f.Time > last {
			begun, last = true, f.Time
		}
		visit(f)
		return nil
	}
	ahead.close = func(int, *capture.Part, error) error { return nil }
	_ = ahead.run(names)
	s.last = last
}

// qpns is the value of --qpn.
type qpns []dissect.QPN

func (q *qpns) String() string { return "" }
func (q *qpns) Type() string   { return "N" }

// Set takes one QPN, or several with commas between them.
func (q *qpns) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		n, err := dissect.ParseQPN(word)
		if err != nil {
			return err
		}
		*q = append(*q, n)
	}
	return nil
}

// hosts is the value of --host.
type hosts []dissect.Host

func (h *hosts) String() string { return "" }
func (h *hosts) Type() string   { return "address" }

// Set takes one host, or several with commas between them.
func (h *hosts) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		host, err := dissect.ParseHost(word)
		if err != nil {
			return err
		}
		*h = append(*h, host)
	}
	return nil
}

// moment is the value of --from and --to.
type moment struct {
	dissect.Moment
	text string
}

func (m *moment) String() string { return "" }
func (m *moment) Type() string   { return "time" }

func (m *moment) Set(s string) error {
	at, err := dissect.ParseMoment(s)
	*m = moment{at, s}
	return err
}
