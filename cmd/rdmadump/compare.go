package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/dissect/twopoint"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	json       bool
	failOnLoss bool
	vanished   number
	color      cli.Colors
	ports      udpPorts
	selection  selection
	live       liveFlags
}

func newCompare(s streams) *cobra.Command {
	flags := compareFlags{color: "auto"}
	command := &cobra.Command{
		Use:   "compare [flags] FILE FILE... | -i IFACE -i IFACE...",
		Short: "Find what vanished between capture points of the same path",
		Long: `compare matches the captures of two points, packet by packet, and reports what
happened between them: which copies of which PSNs vanished, were damaged,
duplicated or overtaken, and how long the others took. Nothing is inferred: a
copy was seen at one point and not at the other.

The files may come in any order, their clocks may disagree, and they may begin
and end at different moments: what passed while one of them was not capturing is
left out. Of more than two files along a path, neighbours are compared.

FILE is a pcap or pcapng file, plain or compressed, or - for standard input.
` + selectionHelp + `
--filter chooses copies that match at any point; all are followed.

Times are by the clock of the file named first, and +1.5s and -5s count from its
first and last frame. In the other files they are the same moments by their own
clocks, however wrong these are. A copy belongs to the moment when it passed the
first of two points. All files are read to the end for that, and read twice.
` + liveHelp + `Live, the points are interfaces of this host, such as two that mirror ports lead
to; the comparison is printed at the end.`,
		Example: `  rdmadump compare sender.pcap receiver.pcap
  rdmadump compare --fail-on-loss a.pcap b.pcap    exit status 3 if any was lost
  rdmadump compare --qpn 0x000222 --from +1.5s --to +2s a.pcap b.pcap
  rdmadump compare -i rx0 -i rx1 --duration 30s
  rdmadump compare --json host1.pcap tor1.pcap tor2.pcap host2.pcap | jq .totals`,
		Args: func(command *cobra.Command, names []string) error {
			if flags.live.given() {
				return flags.liveArgs(command, names)
			}
			if err := severalCaptures(command, names); err != nil {
				return err
			}
			return flags.live.args(command, names)
		},
		RunE: func(command *cobra.Command, names []string) error {
			if err := cmp.Or(s.apart(names), different(s, names)); err != nil {
				return cli.UsageError{Err: err, Command: command.CommandPath()}
			}
			if timed, _ := flags.selection.packets.timed(); timed {
				return cli.Usage(command, "--filter cannot go by time where clocks are compared: use --from and --to")
			}
			return flags.run(s, names)
		},
	}
	f := command.Flags()
	f.BoolVar(&flags.json, "json", false, "print the comparison as a JSON object")
	f.BoolVar(&flags.failOnLoss, "fail-on-loss", false, "exit with status 3 if requests or READ responses were lost or damaged")
	f.Var(&flags.vanished, "max-vanished", "list at most `N` vanished copies a stream, and as many damaged ones (default 65536 in JSON, 10 in text)")
	f.Var(&flags.ports, "udp-port", portUsage)
	flags.selection.register(command)
	flags.live.register(command)
	f.Var(&flags.color, "color", cli.ColorUsage)
	return command
}

// severalCaptures is the argument check of compare.
func severalCaptures(command *cobra.Command, args []string) error {
	if len(args) == 1 {
		return cli.Usage(command, "compare needs the captures of at least two points; of one, see rdmadump loss")
	}
	if len(args) > maxPoints {
		return cli.Usage(command, "compare takes 16 captures at most")
	}
	if err := captures(command, args); err != nil {
		return err
	}
	for i, name := range args {
		if slices.Contains(args[:i], name) {
			return cli.Usage(command, "compare wants different captures, %s is named twice", name)
		}
	}
	return nil
}

// different makes sure that no two names are of one file.
func different(s streams, names []string) error {
	for i, name := range names {
		in, err := s.stat(name)
		if err != nil || !in.Mode().IsRegular() {
			continue // opening it will tell
		}
		if k := s.same(in, names[:i]); k >= 0 {
			return fmt.Errorf("compare wants different captures, %s and %s are one file", names[k], name)
		}
	}
	return nil
}

// maxPoints bounds the captures of one comparison: every pair of them is
// followed.
const maxPoints = 16

// run compares the captures called names, or interfaces.
func (flags *compareFlags) run(s streams, names []string) error {
	config := twopoint.Config{Locator: dissect.Locator{UDPPorts: flags.ports}, MaxVanished: int(flags.vanished)}
	var result *twopoint.Comparison
	var failed error
	if flags.live.given() {
		config.Selection = flags.selection.chosen()
		result, failed = flags.runLive(s, config)
	} else {
		result, failed = flags.runFiles(s, names, config)
	}
	if result == nil {
		return failed
	}
	if result.Selection != nil {
		flags.selection.missed(s, selectedCopies(result))
	}
	if err := flags.print(s, result); err != nil {
		return err
	}
	if failed == nil && flags.failOnLoss && result.Totals.Vanished+result.Totals.Damaged > 0 {
		return cli.ErrFound
	}
	return failed
}

// runFiles compares captures. Without a comparison the error says why.
func (flags *compareFlags) runFiles(s streams, names []string, config twopoint.Config) (*twopoint.Comparison, error) {
	windows, err := flags.selection.align(s, names, config)
	if err != nil {
		return nil, err
	}
	config.Windows, config.Selection = windows, flags.selection.chosen()
	sources := pass{streams: s}.sources(names, nil)
	for i, source := range sources {
		names[i] = source.Name
	}
	comparer := twopoint.NewComparer(config, names...)
	taps := make([]*point, len(sources))
	var failed error
	for i, source := range sources {
		t, err := openTap(source)
		if err != nil { // the others can be compared still
			s.complain(err)
			failed = cli.ErrReported
			comparer.Close(i, "", 0, err)
			continue
		}
		defer t.reader.Close()
		taps[i] = t
	}
	for i := comparer.Next(); i >= 0; i = comparer.Next() {
		fault := taps[i].next(i, comparer)
		if fault == nil {
			continue
		}
		info := taps[i].reader.Info()
		if fault == io.EOF {
			fault = taps[i].links.fault(info.Name)
		}
		comparer.Close(i, info.Format, info.Drops, fault)
		if fault != nil {
			s.complain(fault)
			failed = cli.ErrReported
		}
	}
	return comparer.Comparison(), failed
}

// point is the capture of one point of the path.
type point struct {
	reader *capture.Reader
	frame  dissect.Frame
	links  linkTypes
}

func openTap(source capture.Source) (*point, error) {
	reader, err := source.Open()
	return &point{reader: reader}, err
}

// next gives one frame to the comparer.
func (t *point) next(file int, comparer *twopoint.Comparer) error {
	if err := t.reader.Next(&t.frame); err != nil {
		return err
	}
	t.frame.File = file
	t.links.see(t.frame.Link)
	comparer.Frame(&t.frame)
	return nil
}

// selectedCopies is how many copies were selected, wherever they were seen.
func selectedCopies(c *twopoint.Comparison) int64 {
	var n int64
	for _, list := range [...][]twopoint.Stream{c.Streams, c.Feedback, c.Datagrams} {
		for i := range list {
			n += list[i].CopiesAtFirst + list[i].CopiesAtSecond + list[i].Outside
		}
	}
	for _, o := range c.Once {
		n += o.Packets
	}
	return n
}

func (flags *compareFlags) print(s streams, c *twopoint.Comparison) error {
	if flags.json {
		b, err := report.AppendLine(nil, c)
		if err == nil {
			_, err = s.out.Write(b)
		}
		return cli.WriteError(err)
	}
	text := report.Compare{Style: flags.color.Style(s.out), Width: cli.Width(s.out), Rows: 20, Detail: 5, Copies: 10}
	if flags.vanished > 0 {
		text.Copies = int(flags.vanished)
	}
	return cli.WriteError(text.Write(s.out, c))
}
