package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// liveFlags are the flags of commands that capture from interfaces.
type liveFlags struct {
	interfaces interfaces
	all        bool
	ring       byteSize
	snapLen    number
	modest     bool // not promiscuous
	hardware   bool
	duration   period
}

// register adds the flags to a command.
func (l *liveFlags) register(command *cobra.Command) {
	f := command.Flags()
	f.VarP(&l.interfaces, "interface", "i", "capture from an `IFACE` in place of reading a FILE; any stands for all; may be repeated")
	f.BoolVar(&l.all, "all", false, "have the kernel hand over all frames, not only RoCE: what is in tunnels is found then")
	f.Var(&l.duration, "duration", "capture for a `time`, such as 30s or 2h")
	f.Var(&l.ring, "ring", "`memory` for frames that wait to be read, for each interface (default 64MiB)")
	f.Var(&l.snapLen, "snaplen", "keep `N` bytes of a frame (default all)")
	f.BoolVar(&l.modest, "no-promiscuous", false, "do not ask for frames that are sent to other stations")
	f.BoolVar(&l.hardware, "hardware-time", false, "take the time stamps of the network card, where it gives them")
}

// liveHelp explains the flags in a command's help.
const liveHelp = `
-i captures from network interfaces, on Linux, with the right CAP_NET_RAW.
Ctrl-C ends it, and so do --duration and SIGTERM; in the background of a script,
where the shell has Ctrl-C ignored, SIGTERM does. What the kernel had to drop
counts as lost by the capture, not by the network. RDMA that a network card does
by itself passes no interface of the host: docs/live.md tells where to see it.
`

// given reports whether interfaces are asked for.
func (l *liveFlags) given() bool { return len(l.interfaces) > 0 }

// args is the argument check: captures, or interfaces in place of them.
func (l *liveFlags) args(command *cobra.Command, names []string) error {
	if !l.given() {
		for _, name := range [...]string{"all", "duration", "ring", "snaplen", "no-promiscuous", "hardware-time"} {
			if command.Flags().Changed(name) {
				return cli.Usage(command, "--%s wants -i IFACE", name)
			}
		}
		return captures(command, names)
	}
	if len(names) > 0 {
		return cli.Usage(command, "-i IFACE and the file %s do not go together", names[0])
	}
	return nil
}

// options says what to capture; nil if files are to be read.
func (l *liveFlags) options(ports udpPorts) *live.Options {
	if !l.given() {
		return nil
	}
	return &live.Options{
		Interfaces:  l.interfaces,
		Filter:      live.Filter{All: l.all, UDPPorts: ports},
		SnapLen:     int(l.snapLen),
		Ring:        int(l.ring),
		Promiscuous: !l.modest,
		Hardware:    l.hardware,
		Duration:    time.Duration(l.duration),
	}
}

// tellNone says of a live capture without RDMA packets what came in their place,
// and why they may be missing.
func (s streams) tellNone(name string, none report.NoPackets) {
	s.complain(fmt.Errorf("%s: %v", name, none))
	fmt.Fprintln(s.err, "rdmadump: hint: what a network card does by itself passes no interface of the host, see docs/live.md")
}

// announce says on a terminal that a live capture has begun: until packets come
// nothing else tells.
func (s streams) announce(o *live.Options) {
	if _, tty := cli.Terminal(s.err); !tty {
		return
	}
	what, end := "RoCE", "Ctrl-C"
	if o.Filter.All {
		what = "all frames"
	}
	if o.Duration > 0 {
		what += ", for " + o.Duration.String()
	}
	if signal.Ignored(os.Interrupt) {
		end = "SIGTERM"
	}
	fmt.Fprintf(s.err, "rdmadump: capturing on %s (%s), %s ends it\n", report.Visible(strings.Join(o.Interfaces, ",")), what, end)
}

// interfaces is the value of -i.
type interfaces []string

func (i *interfaces) String() string { return strings.Join(*i, ",") }
func (i *interfaces) Type() string   { return "interface" }

// index is the place of the first interface of that name.
func (i interfaces) index(name string) int { return slices.Index(i, name) }

// Set takes one interface, or several with commas between them.
func (i *interfaces) Set(s string) error {
	for name := range strings.SplitSeq(s, ",") {
		if name == "" {
			return errors.New("want the name of an interface, or any")
		}
		*i = append(*i, name)
	}
	return nil
}

// period is the value of flags that say how long something takes; zero is not
// given.
type period time.Duration

func (p *period) String() string {
	if *p == 0 {
		return ""
	}
	return time.Duration(*p).String()
}
func (p *period) Type() string { return "time" }

// Set takes a duration with its unit.
func (p *period) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return errors.New("want a time above 0 with its unit, such as 30s, 10m or 2h")
	}
	*p = period(d)
	return nil
}

// byteSize is the value of flags that limit memory or files; zero is not given.
type byteSize int64

func (b *byteSize) String() string { return "0" } // no default is shown
func (b *byteSize) Type() string   { return "size" }

// Set takes a number of bytes, or of units of them.
func (b *byteSize) Set(s string) error {
	digits := strings.TrimRight(s, "KMGTiBkmgtb")
	factor := int64(1)
	switch strings.ToLower(s[len(digits):]) {
	case "", "b":
	case "k", "kb", "kib":
		factor = 1 << 10
	case "m", "mb", "mib":
		factor = 1 << 20
	case "g", "gb", "gib":
		factor = 1 << 30
	case "t", "tb", "tib":
		factor = 1 << 40
	default:
		factor = 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || factor == 0 || n > (1<<62)/factor {
		return errors.New("want a size, such as 500MiB or 2G (of 1024 MiB)")
	}
	*b = byteSize(n * factor)
	return nil
}
