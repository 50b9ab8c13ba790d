package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/report"
)

// readFlags are the flags of read.
type readFlags struct {
	verbose bool
	hex     dumpLevel
	form    jsonForm
	count   number
	time    timeForm
	color   colors
	ports   udpPorts
}

func newRead(s streams) *cobra.Command {
	flags := readFlags{time: "relative", color: "auto"}
	command := &cobra.Command{
		Use:   "read [flags] FILE...",
		Short: "Print the RDMA packets of a capture",
		Long: `read prints the RDMA packets of captures, one a line: frame number, time since
the first frame, addresses, destination queue pair, PSN, operation, payload, and
what the headers say. Frames that are not RDMA are passed over.

FILE is a pcap or pcapng file, plain or compressed, or - for standard input.
Several files are one tap's rotation and are read in order of time.`,
		Example: `  rdmadump read trace.pcap
  rdmadump read -v -c 1 trace.pcap            every field of the first packet
  rdmadump read --json trace.pcap | jq 'select(.aeth.syndrome == 96)'
  tcpdump -i eth0 -w - udp port 4791 | rdmadump read -`,
		Args: captures,
		RunE: func(command *cobra.Command, names []string) error {
			if flags.form != "" && (flags.verbose || flags.hex > 0) {
				return usageError{errors.New("--json goes with neither -v nor -x; --json=full has all fields and bytes"), command.CommandPath()}
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
	f.Var(&flags.color, "color", colorUsage)
	return command
}

// run prints the packets of the captures called names.
func (flags *readFlags) run(s streams, names []string) error {
	out := newOutput(s.out)
	p := flags.printer(s, len(names) > 1)
	locator := dissect.Locator{UDPPorts: flags.ports}
	var (
		found  dissect.Packet
		packet report.Packet
		none   report.NoPackets // of the current capture, if it has none
		begun  bool
		total  number // printed
		before number // of them, those of earlier captures
	)
	reading := pass{streams: s}
	reading.waiting = func() { _ = out.flush() } // packet and the last flush tell of a fault
	reading.open = func(part *capture.Part) {
		before, none = total, report.NoPackets{}
		if len(names) > 1 && flags.form == "" {
			out.b = p.lines.AppendHeading(out.b, part.Info().Name)
		}
	}
	reading.frame = func(f *dissect.Frame) error {
		if !begun {
			begun, p.lines.Origin = true, f.Time
		}
		if f.WireLen > len(f.Data) {
			none.Cut++
		}
		grade := dissect.Implausible
		switch locator.Locate(f, &found) {
		case dissect.Found:
			packet.Decode(f, &found)
			grade = found.Judge(&packet.BTH, packet.ICRC)
		case dissect.Cut:
			packet.Decode(f, &found)
			grade = found.JudgeCut()
		case dissect.Fragment:
			none.Fragments++
		}
		if grade == dissect.Implausible {
			return nil
		}
		out.b = p.append(out.b, &packet)
		total++
		if total == flags.count {
			return errStop
		}
		return out.packet()
	}
	reading.close = func(_ int, part *capture.Part, fault error) error {
		if info := part.Info(); fault == nil && total == before {
			none.Frames = info.Frames
			s.complain(fmt.Errorf("%s: %v", info.Name, none))
		}
		return out.flush() // before a fault is told
	}
	return cmp.Or(reading.run(names), out.flush())
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
		lines:     report.Lines{Style: flags.color.style(s.out), Absolute: flags.time == "absolute"},
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
