package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// readFlags are the flags of read.
type readFlags struct {
	verbose bool
	hex     dumpLevel
	form    jsonForm
	count   number
	time    timeForm
	color   cli.Colors
	ports   udpPorts

	selection selection
	cut       cutFlags
	live      liveFlags
}

func newRead(s streams) *cobra.Command {
	flags := readFlags{time: "relative", color: "auto", cut: cutFlags{icrc: "anew"}}
	command := &cobra.Command{
		Use:   "read [flags] FILE... | -i IFACE",
		Short: "Print the RDMA packets of a capture",
		Long: `read prints the RDMA packets of captures, one a line: frame number, time since
the first frame, addresses, destination queue pair, PSN, operation, payload, and
what the headers say. Frames that are not RDMA are passed over.

FILE is a pcap or pcapng file, plain or compressed, or - for standard input.
Several files are one tap's rotation and are read in order of time.
` + selectionHelp + `
--qpn chooses both directions of a connection and the messages that set it up;
for that, files are read twice. A pipe cannot be: from it --qpn chooses the
packets that name the queue pair, and leaves out those to the other end.

` + cutHelp + "\n" + liveHelp,
		Example: `  rdmadump read trace.pcap
  rdmadump read --qpn 546 --from +1.5s --to +2s trace.pcap
  rdmadump read -w part.pcapng.gz --qpn 0x000222 --strip-payload trace.pcap
  rdmadump read -v -c 1 trace.pcap            every field of the first packet
  rdmadump read --json trace.pcap | jq 'select(.aeth.syndrome == 96)'
  rdmadump read -i eth0
  rdmadump read -i eth0 -w ring.pcapng.zst --rotate-size 500MiB --keep 20
  tcpdump -i eth0 -w - udp port 4791 | rdmadump read -`,
		Args: flags.live.args,
		RunE: func(command *cobra.Command, names []string) error {
			if flags.form != "" && (flags.verbose || flags.hex > 0) {
				return cli.Usage(command, "--json goes with neither -v nor -x; --json=full has all fields and bytes")
			}
			if err := cmp.Or(s.apart(names), flags.cut.check(command, s, names, flags.prints())); err != nil {
				return cli.UsageError{Err: err, Command: command.CommandPath()}
			}
			return flags.run(s, names)
		},
	}
	f := command.Flags()
	f.BoolVarP(&flags.verbose, "verbose", "v", false, "print every field of every header under each line")
	f.VarP(&flags.hex, "hex", "x", "dump each packet from the BTH on; -xx dumps the whole frame")
	f.Lookup("hex").NoOptDefVal = "true"
	f.Var(&flags.form, "json", "print JSON, one object a line; --json=full adds all that is needed to make the same bytes again")
	f.Lookup("json").NoOptDefVal = "true"
	f.VarP(&flags.count, "count", "c", "stop after `N` packets")
	f.Var(&flags.time, "time", "relative: seconds since the first frame; absolute: date and time, UTC")
	f.Var(&flags.ports, "udp-port", portUsage)
	flags.selection.register(command)
	flags.cut.register(command)
	flags.live.register(command)
	f.Var(&flags.color, "color", cli.ColorUsage)
	return command
}

// prints reports whether packets are printed: with -w, only if the flags say how.
func (flags *readFlags) prints() bool {
	return flags.cut.name == "" || flags.form != "" || flags.verbose || flags.hex > 0
}

// run prints or writes the packets of the captures called names.
func (flags *readFlags) run(s streams, names []string) error {
	locator := dissect.Locator{UDPPorts: flags.ports}
	if err := flags.selection.survey(s, names, learnPairs, locator); err != nil {
		return err
	}
	r := packetReader{readFlags: flags, out: newOutput(s.out), printer: flags.printer(s, len(names) > 1),
		locator: locator, selection: flags.selection.chosen()}
	if flags.cut.name != "" {
		r.cut = flags.cut.begin(s, locator, r.selection)
	}
	var slow *outlet
	if flags.live.given() {
		slow = newOutlet(s.out)
		r.out.w = slow
	}
	before := number(0) // packets of earlier captures
	reading := pass{streams: s, live: flags.live.options(flags.ports), frame: r.frame, waiting: r.waiting}
	if slow != nil {
		reading.broken = slow.broken
	}
	reading.open = func(part *capture.Part) {
		before, r.none = r.total, report.NoPackets{}
		if r.cut != nil {
			r.cut.part = part
		}
		if len(names) > 1 && flags.form == "" && flags.prints() {
			r.out.b = r.printer.lines.AppendHeading(r.out.b, part.Info().Name)
		}
	}
	reading.close = func(i int, part *capture.Part, fault error) error {
		info := part.Info()
		if fault == nil && r.total == before && r.selection == nil {
			r.none.Frames = info.Frames
			if flags.live.given() {
				s.tellNone(info.Name, r.none)
			} else {
				s.complain(fmt.Errorf("%s: %v", info.Name, r.none))
			}
		}
		if flags.live.given() && info.Drops > 0 {
			s.complain(fmt.Errorf("%s: the kernel dropped %d frames that are not here: a larger --ring may keep up", info.Name, info.Drops))
		}
		if err := r.out.flush(); err != nil || r.cut == nil { // before a fault is told
			return err
		}
		return r.cut.drops(i, info)
	}
	failed := cmp.Or(reading.run(names), r.out.flush())
	if slow != nil {
		failed = cmp.Or(failed, slow.close())
	}
	if errors.As(failed, &cli.UsageError{}) {
		return failed
	}
	if r.begun && r.selection != nil && (r.total == 0 || r.total != r.count) {
		flags.selection.missed(s, int64(r.total))
	}
	if r.cut != nil {
		return cmp.Or(r.cut.end(), failed)
	}
	return failed
}

// packetReader takes frames to where the flags want their packets.
type packetReader struct {
	*readFlags
	out       *output
	printer   *packetPrinter
	cut       *cut // nil without -w
	locator   dissect.Locator
	selection *dissect.Selection // nil for everything

	found  dissect.Packet
	packet report.Packet
	none   report.NoPackets // of the current capture, if it has none
	begun  bool
	total  number // packets taken
}

// waiting lets out what was made so far. Of a fault of that the next packet, or
// the end, tells.
func (r *packetReader) waiting() {
	_ = r.out.flush()
	switch {
	case r.cut == nil:
	case r.live.given():
		r.cut.keepUp()
	default:
		r.cut.flush()
	}
}

// frame prints or writes the packet in a frame, if it is wanted.
func (r *packetReader) frame(f *dissect.Frame) error {
	if !r.begun {
		r.begun, r.printer.lines.Origin = true, f.Time
		if err := r.readFlags.selection.begin(f.Time); err != nil {
			return err
		}
	}
	if f.WireLen > len(f.Data) {
		r.none.Cut++
	}
	outcome := r.locator.Locate(f, &r.found)
	switch {
	case outcome == dissect.Fragment:
		r.none.Fragments++
		return nil
	case outcome == dissect.NotRDMA, outcome == dissect.Pause, r.selection != nil && !r.selection.Takes(&r.found):
		return nil
	}
	r.packet.Decode(f, &r.found)
	grade := r.found.JudgeCut()
	if outcome == dissect.Found {
		grade = r.found.Judge(&r.packet.BTH, r.packet.ICRC)
	}
	if grade == dissect.Implausible {
		return nil
	}
	if r.cut != nil {
		if err := r.cut.write(f); err != nil {
			return err
		}
	}
	if r.prints() {
		r.out.b = r.printer.append(r.out.b, &r.packet)
	}
	if r.total++; r.total == r.count {
		if r.cut != nil && r.live.given() { // of a file the rest may have more to say
			return cmp.Or(r.cut.drops(f.File, r.cut.part.Info()), errStop)
		}
		return errStop
	}
	return r.out.packet()
}

// packetPrinter appends packets as the flags ask for.
type packetPrinter struct {
	*readFlags
	json  report.JSON
	lines report.Lines
}

func (flags *readFlags) printer(s streams, files bool) *packetPrinter {
	return &packetPrinter{
		readFlags: flags,
		json:      report.JSON{Full: flags.form == "full", Files: files},
		lines:     report.Lines{Style: flags.color.Style(s.out), Absolute: flags.time == "absolute"},
	}
}

func (p *packetPrinter) append(b []byte, packet *report.Packet) []byte {
	if p.form != "" {
		return p.json.Append(b, packet)
	}
	b = p.lines.Append(b, packet)
	if p.verbose {
		b = report.AppendTree(b, packet, p.lines.Style)
	}
	switch {
	case p.hex == 1:
		b = report.AppendDump(b, packet.Outer.Transport(), "    ")
	case p.hex > 1:
		b = report.AppendDump(b, packet.Frame.Data, "    ")
	}
	return b
}

// dumpLevel is how often -x was given.
type dumpLevel int

func (d *dumpLevel) String() string { return "" }
func (d *dumpLevel) Type() string   { return "bool" } // it takes no value

// Set counts one more, or takes all back.
func (d *dumpLevel) Set(s string) error {
	switch s {
	case "true":
		*d++
	case "false":
		*d = 0
	default:
		return errors.New("want -x, or -xx for more")
	}
	return nil
}

// jsonForm is the value of --json: "" without it, "true" for --json alone, or
// "full".
type jsonForm string

func (j *jsonForm) String() string { return string(*j) }
func (j *jsonForm) Type() string   { return "bool" } // it needs no value

func (j *jsonForm) Set(s string) error {
	switch s {
	case "true", "full":
		*j = jsonForm(s)
	case "false":
		*j = ""
	default:
		return errors.New("want --json or --json=full")
	}
	return nil
}

// timeForm is the value of --time.
type timeForm string

func (t *timeForm) String() string { return string(*t) }
func (t *timeForm) Type() string   { return "form" }

func (t *timeForm) Set(s string) error {
	switch s {
	case "relative", "absolute":
		*t = timeForm(s)
		return nil
	}
	return errors.New("want relative or absolute")
}
