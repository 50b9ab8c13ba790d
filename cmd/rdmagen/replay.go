package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/replay"
	"github.com/rdmadump/rdmadump/sim"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	file   string
	seed   uint64
	picks  []pickFlag
	qpns   []string
	src    []string
	dst    []string
	ports  []uint
	truth  string
	output fileFlags
}

func newReplay(s streams) *cobra.Command {
	flags := replayFlags{}
	command := &cobra.Command{
		Use:   "replay [flags] CAPTURE",
		Short: "Send a capture through a lossy network",
		Long: `replay reads a capture, - for standard input, and writes what a capture point
behind a network would have seen: packets that the network lost are gone, others
are duplicated, damaged (their ICRC is wrong), marked CE, or come late. Frames
that are not RDMA pass as they are, and so does connection management.

PICK chooses packets: a probability, or the keys of a pick as in a scenario,
such as '{model: burst, first: 10, count: 5, only: data}'; beside those, the
lists qpn, src and dst say which packets it is about. --loss and the like are
about what goes to the end that answers (requests), those with -back about READ
responses, acknowledgements and CNPs. Each may be repeated. -f reads the same
from a YAML file with seed, there and back; flags add to it.

--truth writes what became of every packet, a line of JSON each.`,
		Example: `  rdmagen replay --loss 0.01 x.pcap -o y.pcap --truth t.json
  X=testdata/cases/04-gap-nak-gobackn.pcap       a capture of the repository
  rdmagen replay --drop 104:1 --drop 106 $X | rdmadump compare $X -
  rdmagen replay --damage '{model: nth, n: [3, 9]}' --reorder 0.02,20us x.pcapng`,
		Args: oneCapture,
		RunE: func(command *cobra.Command, args []string) error {
			network, err := flags.network(command)
			if err != nil {
				return err
			}
			return flags.run(command, s, network, args[0])
		},
	}
	flags.register(command)
	return command
}

func oneCapture(command *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return cli.Usage(command, "name a capture file, or - for standard input")
	case len(args) > 1:
		return cli.Usage(command, "unexpected argument: %s", args[1])
	}
	return nil
}

// pickFlag is a flag that adds picks.
type pickFlag struct {
	name, kind, usage string
	add               func(n *replay.Network, text string) error
	given             []string
}

func (v *pickFlag) String() string { return "" }
func (v *pickFlag) Type() string   { return v.kind }

func (v *pickFlag) Set(text string) error {
	if err := v.add(&replay.Network{}, text); err != nil {
		return err
	}
	v.given = append(v.given, text)
	return nil
}

func (c *replayFlags) register(command *cobra.Command) {
	f := command.Flags()
	f.SortFlags = false
	f.StringVarP(&c.file, "file", "f", "", "read the network from `FILE`")
	c.picks = pickFlags()
	for i := range c.picks {
		f.Var(&c.picks[i], c.picks[i].name, c.picks[i].usage)
	}
	f.StringArrayVar(&c.qpns, "qpn", nil, "flags are about packets to this queue pair `N` only; may be repeated")
	f.StringArrayVar(&c.src, "src", nil, "from this `HOST` only: address, network, or lid:N; may be repeated")
	f.StringArrayVar(&c.dst, "dst", nil, "to this `HOST` only; may be repeated")
	f.Uint64Var(&c.seed, "seed", 1, "seed `N` of every random choice")
	f.UintSliceVar(&c.ports, "udp-port", nil, "`PORT` that carries RoCEv2 too, beside 4791")
	f.Lookup("udp-port").DefValue = "" // no port beside
	f.StringVar(&c.truth, "truth", "", "write the truth to `FILE`, - for standard output")
	c.output.register(command)
}

func pickFlags() (all []pickFlag) {
	type effect struct {
		name, usage string
		where       func(*replay.Way) *[]replay.Pick
	}
	ways := []struct {
		suffix, usage string
		of            func(*replay.Network) *replay.Way
	}{{"", "", func(n *replay.Network) *replay.Way { return &n.There }}, {"-back", ", on the way back", func(n *replay.Network) *replay.Way { return &n.Back }}}
	for _, way := range ways {
		for _, e := range []effect{
			{"loss", "lose packets", func(w *replay.Way) *[]replay.Pick { return &w.Loss }},
			{"damage", "damage packets", func(w *replay.Way) *[]replay.Pick { return &w.Damage }},
			{"duplicate", "have packets arrive twice", func(w *replay.Way) *[]replay.Pick { return &w.Duplicate }},
			{"mark", "mark packets CE", func(w *replay.Way) *[]replay.Pick { return &w.Mark }},
		} {
			all = append(all, pickFlag{name: e.name + way.suffix, kind: "PICK", usage: e.usage + way.usage, add: func(n *replay.Network, text string) error {
				p, err := replay.ParsePick(text)
				picks := e.where(way.of(n))
				*picks = append(*picks, p)
				return err
			}})
		}
		all = append(all, pickFlag{name: "reorder" + way.suffix, kind: "PICK,TIME", usage: "hold packets back for a time" + way.usage, add: func(n *replay.Network, text string) error {
			w := way.of(n)
			late, err := parseLate(text)
			w.Reorder = append(w.Reorder, late)
			return err
		}}, pickFlag{name: "drop" + way.suffix, kind: "PSN[:COPY]", usage: "lose this transmission of a PSN, or all" + way.usage, add: func(n *replay.Network, text string) error {
			c, err := parseCopy(text)
			w := way.of(n)
			w.Loss = append(w.Loss, replay.Pick{Pick: sim.Pick{Model: sim.ByPSN, PSN: []sim.Copy{c}}})
			return err
		}})
	}
	return all
}

// parseLate reads a pick and how long what it picks is held back.
func parseLate(text string) (late replay.Late, err error) {
	i := strings.LastIndexByte(text, ',')
	if i < 0 {
		return late, errors.New("want a pick and a time, such as 0.01,20us")
	}
	if late.By, err = time.ParseDuration(strings.TrimSpace(text[i+1:])); err != nil || late.By <= 0 {
		return late, errors.New("want a time such as 20us behind the last comma")
	}
	late.Pick, err = replay.ParsePick(text[:i])
	return late, err
}

// parseCopy reads "1003" or "1003:1".
func parseCopy(text string) (c sim.Copy, err error) {
	number, nth, several := strings.Cut(text, ":")
	if c.PSN, err = parsePSN(number); err != nil {
		return c, err
	}
	if several {
		if c.Copy, err = strconv.Atoi(nth); err != nil || c.Copy < 1 {
			return c, errors.New("want a number of 1 or more behind the colon")
		}
	}
	return c, nil
}

// network is what file and flags describe.
func (c *replayFlags) network(command *cobra.Command) (*replay.Network, error) {
	n := &replay.Network{Seed: 1}
	if c.file != "" {
		text, err := os.ReadFile(c.file)
		if err != nil {
			return nil, fileError(c.file, err)
		}
		if n, err = replay.Parse(text, c.file); err != nil {
			return nil, err
		}
	} else if command.Flags().Changed("file") {
		return nil, cli.Usage(command, "-f wants the name of a file")
	}
	if command.Flags().Changed("seed") {
		n.Seed = c.seed
	}
	about, err := c.about(command)
	if err != nil {
		return nil, err
	}
	flags := replay.Network{}
	for _, p := range c.picks {
		for _, text := range p.given {
			_ = p.add(&flags, text) // Set has tried
		}
	}
	for _, way := range []struct{ from, to *replay.Way }{{&flags.There, &n.There}, {&flags.Back, &n.Back}} {
		way.to.Loss = append(way.to.Loss, narrowed(way.from.Loss, about)...)
		way.to.Damage = append(way.to.Damage, narrowed(way.from.Damage, about)...)
		way.to.Duplicate = append(way.to.Duplicate, narrowed(way.from.Duplicate, about)...)
		way.to.Mark = append(way.to.Mark, narrowed(way.from.Mark, about)...)
		for _, late := range way.from.Reorder {
			late.Pick = narrowed([]replay.Pick{late.Pick}, about)[0]
			way.to.Reorder = append(way.to.Reorder, late)
		}
	}
	return n, nil
}

// about is which packets the flags are about.
func (c *replayFlags) about(command *cobra.Command) (p replay.Pick, err error) {
	for _, text := range c.qpns {
		n, err := strconv.ParseUint(text, 0, 24)
		if err != nil {
			return p, cli.Usage(command, "invalid argument %q for \"--qpn\" flag: want 0 to 16777215, or 0x111", text)
		}
		p.QPN = append(p.QPN, uint32(n))
	}
	for _, hosts := range []struct {
		flag  string
		texts []string
		to    *[]replay.Host
	}{{"src", c.src, &p.Src}, {"dst", c.dst, &p.Dst}} {
		for _, text := range hosts.texts {
			var h replay.Host
			if err := h.UnmarshalText([]byte(text)); err != nil {
				return p, cli.Usage(command, "invalid argument %q for \"--%s\" flag: %w", text, hosts.flag, err)
			}
			*hosts.to = append(*hosts.to, h)
		}
	}
	for _, port := range c.ports {
		if port < 1 || port > 65535 {
			return p, cli.Usage(command, "--udp-port %d: want 1 to 65535", port)
		}
	}
	return p, nil
}

// narrowed are picks about some packets only, unless they say themselves which.
func narrowed(picks []replay.Pick, about replay.Pick) []replay.Pick {
	for i := range picks {
		p := &picks[i]
		if p.QPN == nil {
			p.QPN = about.QPN
		}
		if p.Src == nil {
			p.Src = about.Src
		}
		if p.Dst == nil {
			p.Dst = about.Dst
		}
	}
	return picks
}

// run replays the capture.
func (c *replayFlags) run(command *cobra.Command, s streams, n *replay.Network, name string) error {
	if c.truth != "" && (same(c.truth, c.output.name) || c.truth != "-" && (same(c.truth, name) || same(c.truth, c.file))) {
		return cli.Usage(command, "%s would be used twice: name another file", c.truth)
	}
	interrupted, restore := signal.NotifyContext(context.Background(), cli.EndSignals()...)
	defer restore()
	context.AfterFunc(interrupted, restore) // a second one ends the program at once
	if err := c.output.check(command, s, []string{name, c.file}); err != nil {
		return err
	}
	var w *capture.Writer
	source := capture.Source{Name: name, Stop: interrupted.Done(), Waiting: func() {
		if w != nil {
			_ = w.Flush() // the writer keeps a fault
		}
	}}
	if name == "-" {
		source.Name, source.Stream = "standard input", s.in
	}
	in, err := source.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	w, err = c.output.create(s, capture.WriterOptions{Comment: n.About,
		Describe: func(f *dissect.Frame) capture.Interface { return in.Info().Interfaces[f.Interface] }})
	if err != nil {
		return err
	}
	options := replay.Options{Out: w.WriteFrame}
	for _, port := range c.ports {
		options.Locator.UDPPorts = append(options.Locator.UDPPorts, uint16(port))
	}
	truth, err := openTruth(s, c.truth)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	if truth != nil {
		options.Truth = truth
	}
	r, err := replay.New(n, options)
	if err == nil {
		err = pump(in, r)
	}
	for _, closing := range []error{keepDrops(w, in), w.Close(), truth.end()} {
		if err == nil {
			err = closing
		}
	}
	if err == nil {
		s.complain(errors.New(replayed(&r.Stats)))
		if len(r.Missed) > 0 {
			s.complain(errors.New(neverCame(r.Missed)))
		}
	}
	return err
}

// pump replays all frames. What was read before a fault is replayed to its end.
func pump(in *capture.Reader, r *replay.Replayer) error {
	f := dissect.Frame{}
	fault := in.Next(&f)
	for ; fault == nil; fault = in.Next(&f) {
		if err := r.Frame(&f); err != nil {
			return err
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	if fault == io.EOF {
		return nil
	}
	return fault
}

// keepDrops keeps how many packets the capture lost.
func keepDrops(w *capture.Writer, in *capture.Reader) error {
	info := in.Info()
	for index, i := range info.Interfaces {
		if err := w.AddDrops(0, index, i.Drops); err != nil {
			return err
		}
	}
	return nil
}

// replayed says what was done.
func replayed(s *replay.Stats) string {
	text := fmt.Sprintf("%d of %d RDMA packets lost", s.Lost, s.Packets)
	for _, e := range []struct {
		n    int64
		what string
	}{{s.Damaged, "damaged"}, {s.Duplicated, "duplicated"}, {s.Reordered, "reordered"}, {s.Marked, "marked"}} {
		if e.n > 0 {
			text += fmt.Sprintf(", %d %s", e.n, e.what)
		}
	}
	if other := s.Frames - s.Packets; other > 0 {
		text += fmt.Sprintf("; %d other frames", other)
	}
	return text
}

// openTruth begins the truth, nil without a name.
func openTruth(s streams, name string) (*truthFile, error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		return &truthFile{bufio.NewWriter(s.out), "standard output", nil}, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	return &truthFile{bufio.NewWriter(file), name, file}, nil
}

// end completes the truth.
func (t *truthFile) end() error {
	if t == nil {
		return nil
	}
	err := fileError(t.name, t.Flush())
	if t.close != nil {
		if closing := fileError(t.name, t.close.Close()); err == nil {
			err = closing
		}
	}
	return err
}
