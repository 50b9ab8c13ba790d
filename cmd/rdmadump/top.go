package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
	"github.com/rdmadump/rdmadump/top"
)

// topFlags are the flags of top.
type topFlags struct {
	once      bool
	speed     top.Speed
	order     top.Order
	find      string
	maxHalves number
	color     cli.Colors
	ports     udpPorts
	selection selection
	watch     watchFlags
}

func newTop(s streams) *cobra.Command {
	flags := topFlags{speed: 1, color: "auto"}
	command := &cobra.Command{
		Use:   "top [flags] FILE... | -i IFACE",
		Short: "Watch connections, the ones in trouble first",
		Long: `top shows the connections of an interface while packets come, those in trouble
first: packet rates, losses, retransmissions, NAKs and RNR NAKs, congestion
notifications, round trips. A FILE is replayed as fast as it was captured, or
as --speed says; the view stays on its end. Press ? for the keys, q to quit.

` + top.TroubleHelp + `

Where standard output is no terminal, --once prints the table of all that came
and ends: at the end of FILE, or after the --duration of a live capture (3s if
it is not given).
` + selectionHelp + liveHelp,
		Example: `  rdmadump top -i eth0
  rdmadump top -i eth0 --find 192.0.2.0/24 --sort rnr
  rdmadump top --speed 10 trace.pcap
  rdmadump top --speed max trace.pcap      straight to its end
  rdmadump top --once trace.pcap | head
  ssh host tcpdump -i eth0 -U -w - udp port 4791 | rdmadump top -`,
		Args: func(command *cobra.Command, names []string) error {
			if flags.watch.live.given() && command.Flags().Changed("speed") {
				return cli.Usage(command, "--speed wants a FILE: what passes an interface has its own")
			}
			return flags.watch.args(command, names)
		},
		RunE: func(command *cobra.Command, names []string) error {
			terminal, tty := cli.Terminal(s.out)
			switch {
			case flags.once:
			case !tty:
				return cli.Usage(command, "standard output is no terminal: --once prints a table there")
			case os.Getenv("TERM") == "dumb":
				return cli.Usage(command, "the terminal cannot move its cursor (TERM=dumb): --once prints a table there")
			}
			if err := flags.selection.survey(s, names, noForesight, dissect.Locator{UDPPorts: flags.ports}); err != nil {
				return err
			}
			if flags.once {
				return flags.print(s, names)
			}
			return flags.show(s, terminal, names)
		},
	}
	f := command.Flags()
	f.BoolVar(&flags.once, "once", false, "print the table once, at the end, in place of the view")
	f.Var(&flags.speed, "speed", "replay a FILE `N` times as fast as it was captured, or max")
	f.Var(&flags.order, "sort", "sort by a `column`: trouble, packets, lost, resent, nak, rnr, timeout, cnp, rtt, age or address")
	f.StringVar(&flags.find, "find", "", "begin with the connections whose ends fit `words`, as / does: a QPN, an address, a network")
	f.Var(&flags.maxHalves, "max-halves", "follow at most `N` directions of connections at a time (default 131072)")
	f.Var(&flags.ports, "udp-port", portUsage)
	flags.selection.register(command)
	flags.watch.register(command)
	f.Var(&flags.color, "color", cli.ColorUsage)
	return command
}

// watching is a pass whose analyzer can be looked at meanwhile.
type watching struct {
	pass
	names  []string
	opened chan struct{} // closed once there is something to look at
	show   top.Show
}

// watching makes the pass; what it complains of goes to complaints. It ends once
// quit is closed.
func (flags *topFlags) watching(s streams, names []string, complaints io.Writer, quit <-chan struct{}) *watching {
	config := dissect.Config{Locator: dissect.Locator{UDPPorts: flags.ports}, MaxGaps: 100, MaxHalves: int(flags.maxHalves),
		Selection: flags.selection.chosen()}
	holdMemory(config.MaxHalves)
	analyzer := dissect.NewAnalyzer(config)
	w := &watching{names: names, opened: make(chan struct{})}
	w.pass, _ = analysis(streams{s.in, io.Discard, complaints}, analyzer, &flags.selection, nil)
	w.viewed = quit != nil
	w.show = top.Show{Query: top.Query{Order: flags.order, Find: top.ParseFind(flags.find)},
		Colored: flags.color.Style(s.out) != report.Style{}, ASCII: !unicodeLocale(), Title: report.Visible(title(names))}
	settle := func() {} // behind each frame
	if flags.watch.live.given() {
		w.show.Title = report.Visible(flags.watch.live.interfaces.String())
		live := flags.watch.begin(streams{out: io.Discard}, time.Second)
		w.live = flags.watch.live.options(flags.ports)
		live.follow(&w.pass, analyzer, &flags.selection)
		clock := func() int64 { return time.Now().UnixNano() }
		if flags.watch.live.hardware {
			clock = func() int64 { return live.newest }
		}
		w.show.Sampler = top.NewSampler(analyzer, clock, true)
		settle = func() { w.show.Sampler.Dropped(live.drops) }
	} else {
		w.show.Pace = top.NewPace(flags.speed, quit)
		w.show.Sampler = top.NewSampler(analyzer, w.show.Pace.Now, false)
	}
	w.broken = quit
	w.guard(settle, quit)
	return w
}

// guard has the pass hold the lock of the sampler while it touches the analyzer,
// and hold frames back until it is their time.
func (w *watching) guard(settle func(), quit <-chan struct{}) {
	sampler, pace := w.show.Sampler, w.show.Pace
	locked := func(f func()) {
		sampler.Lock()
		defer sampler.Unlock()
		f()
	}
	open, feed, wait, unread, end := w.open, w.frame, w.waiting, w.unread, w.close
	var once sync.Once
	w.open = func(part *capture.Part) {
		locked(func() { open(part) })
		once.Do(func() { close(w.opened) })
	}
	w.frame = func(f *dissect.Frame) error {
		select {
		case <-quit:
			return errStop
		default:
		}
		if pace != nil {
			pace.Wait(f.Time)
		}
		sampler.Lock()
		defer sampler.Unlock()
		sampler.Reached(f.Time)
		err := feed(f)
		settle()
		return err
	}
	if wait != nil {
		w.waiting = func() { locked(func() { wait(); settle() }) }
	}
	w.unread = func(name string, err error) { locked(func() { unread(name, err) }) }
	w.close = func(i int, part *capture.Part, fault error) (err error) {
		locked(func() { err = end(i, part, fault) })
		return err
	}
}

// show lets the user watch.
func (flags *topFlags) show(s streams, terminal *os.File, names []string) error {
	quit := make(chan struct{})
	told := &complaints{}
	w := flags.watching(s, names, told, quit)
	// The view begins once there is something to see: what is wrong with the name
	// of an interface is better told without.
	var failed error
	ended := make(chan struct{})
	fault := "" // of the reader, which panics where the terminal is whole again
	go func() {
		defer close(ended)
		defer func() {
			if v := recover(); v != nil {
				fault = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
			}
		}()
		failed = w.run(names)
		w.show.Sampler.End(told.last())
	}()
	select {
	case <-w.opened:
	case <-ended:
		if fault != "" {
			panic(fault)
		}
		_, _ = s.err.Write(told.all())
		return failed
	}
	err := w.show.Run(terminal, quit, func() {
		select {
		case <-ended:
		case <-quit:
			<-ended
		}
		if fault != "" {
			panic(fault)
		}
	})
	if err != nil {
		return cli.WriteError(err)
	}
	if text := told.all(); len(text) > 0 {
		_, _ = s.err.Write(text)
		select {
		case <-ended:
			return failed
		default: // it does not end, which is no good end
			return cli.ErrReported
		}
	}
	return nil
}

// print prints the table once.
func (flags *topFlags) print(s streams, names []string) error {
	flags.speed = 0
	if flags.watch.live.given() && flags.watch.live.duration == 0 && flags.watch.count == 0 {
		flags.watch.live.duration = period(3 * time.Second)
	}
	w := flags.watching(s, names, s.err, nil)
	failed := w.run(names)
	select {
	case <-w.opened:
	default:
		return failed
	}
	w.show.Sampler.End("")
	return cmp.Or(cli.WriteError(w.show.Write(s.out, cli.Width(s.out))), failed)
}

// title names what is looked at.
func title(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// complaints are messages that wait until the terminal shows them again.
type complaints struct {
	mutex sync.Mutex
	b     bytes.Buffer
}

// maxComplaints is how many bytes of them are kept.
const maxComplaints = 64 << 10

// Write takes a message. That reading was interrupted is what the user wanted.
func (c *complaints) Write(b []byte) (int, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !bytes.Contains(b, []byte(capture.ErrStopped.Error())) && c.b.Len()+len(b) <= maxComplaints {
		c.b.Write(b)
	}
	return len(b), nil
}

func (c *complaints) all() []byte {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return bytes.Clone(c.b.Bytes())
}

// last is the last message without the name of the program, "" if there is none.
func (c *complaints) last() string {
	var last string
	for text := range strings.Lines(string(c.all())) {
		if text = strings.TrimSpace(text); !strings.HasPrefix(text, "rdmadump: hint:") {
			last = strings.TrimPrefix(text, "rdmadump: ")
		}
	}
	return last
}

// unicodeLocale reports whether the terminal can be expected to show more than
// ASCII.
func unicodeLocale() bool {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", ""))
	return locale == "" || strings.Contains(locale, "utf8")
}
