package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/metrics"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen    string
	most      number
	maxHalves number
	ports     udpPorts
	selection selection
	watch     watchFlags
	stated    stated
}

func newServe(s streams) *cobra.Command {
	flags := serveFlags{listen: "127.0.0.1:9817", most: 1000}
	command := &cobra.Command{
		Use:   "serve [flags] FILE... | -i IFACE",
		Short: "Serve metrics of a running network to Prometheus",
		Long: `serve follows the connections of an interface and serves what it knows of them:

  /metrics      for Prometheus: totals, and the connections in the most trouble
  /connections  the same connections as JSON, with their newest gaps
  /healthz      200 while all is well, 503 and the reason when capturing failed
  /             a page to look at

It listens on the loopback interface only, unless --listen says otherwise; an
address without a host, such as :9817, is every interface of this host. Nothing
is encrypted and nobody is asked for a password.

Each connection is a handful of series, so that only --max-connections are given
one by one: those that lost, repeated and refused the most. The totals are of all.
Losses by the capture itself are counted apart, as capture_dropped_frames.

A FILE is read to its end, and then what it came to is served until Ctrl-C.
` + selectionHelp + liveHelp,
		Example: `  rdmadump serve -i eth0
  rdmadump serve -i eth0 --listen 10.0.0.7:9817 --max-connections 200
  rdmadump serve trace.pcap
  curl -s localhost:9817/metrics | grep lost`,
		Args: func(command *cobra.Command, names []string) error {
			if _, port, err := net.SplitHostPort(flags.listen); err != nil || port == "" {
				return cli.Usage(command, "--listen %q has no host:port", flags.listen)
			}
			if flags.watch.count > 0 {
				return cli.Usage(command, "serve ends at a signal, not after --count packets")
			}
			return flags.watch.args(command, names)
		},
		RunE: func(_ *cobra.Command, names []string) error { return flags.run(s, cli.Version(), names) },
	}
	f := command.Flags()
	f.StringVar(&flags.listen, "listen", flags.listen, "listen on this `address`, host:port")
	f.Var(&flags.most, "max-connections", "give at most `N` connections one by one")
	f.Var(&flags.maxHalves, "max-halves", "follow at most `N` directions of connections at a time (default 131072)")
	f.Var(&flags.ports, "udp-port", portUsage)
	flags.stated.register(command)
	flags.selection.register(command)
	flags.watch.register(command)
	_ = f.MarkHidden("count")
	return command
}

// newestGaps is how many gaps of a direction /connections gives.
const newestGaps = 10

// run serves what the captures called names, or interfaces, come to.
func (flags *serveFlags) run(s streams, version string, names []string) error {
	listener, err := net.Listen("tcp", flags.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", flags.listen, listenError(err))
	}
	defer func() { _ = listener.Close() }()
	stop, restore := signal.NotifyContext(context.Background(), cli.EndSignals()...)
	defer restore()

	locator := dissect.Locator{UDPPorts: flags.ports}
	if err := flags.selection.survey(s, names, noForesight, locator); err != nil {
		return err
	}
	config := dissect.Config{Locator: locator, MaxGaps: 2 * newestGaps, MaxHalves: int(flags.maxHalves), Selection: flags.selection.chosen()}
	flags.stated.fill(&config)
	holdMemory(config.MaxHalves)
	analyzer := dissect.NewAnalyzer(config)
	board := metrics.NewBoard(analyzer, metrics.Limits{Connections: int(flags.most), Gaps: newestGaps})
	reading, opened := flags.reading(s, analyzer, board)

	server := metrics.NewServer(metrics.Handler(board, version))
	broken := make(chan error, 1)
	ended := make(chan error, 1)
	begin := func() {
		fmt.Fprintf(s.err, "rdmadump: serving http://%s\n", listener.Addr())
		go func() { broken <- server.Serve(listener) }()
	}
	first := reading.open
	reading.open = func(part *capture.Part) {
		if !*opened { // what is wrong with the first capture is better told than served
			begin()
		}
		first(part)
	}
	go func() {
		failed := reading.run(names)
		fault := ""
		if failed != nil && stop.Err() == nil {
			fault = reading.fault
		}
		board.End(fault)
		ended <- failed
	}()
	failed, over := error(nil), false
	for {
		select {
		case failed = <-ended:
			if !*opened {
				return failed
			}
			over = true
			continue
		case err := <-broken:
			return fmt.Errorf("%s: %w", listener.Addr(), err)
		case <-stop.Done():
		}
		break
	}
	if !over {
		failed = <-ended // it heard the signal too
	}
	grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return cmp.Or(failed, ignoreDeadline(server.Shutdown(grace)))
}

// ignoreDeadline drops the error that a client held on for too long.
func ignoreDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// listenError is what the system said, without the words around it.
func listenError(err error) error {
	var inner *os.SyscallError
	if errors.As(err, &inner) {
		return inner.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

// served is a pass that feeds the analyzer of a board.
type served struct {
	pass
	fault string // what went wrong last
}

// reading makes the pass, which holds the lock of the board while it touches the
// analyzer.
func (flags *serveFlags) reading(s streams, analyzer *dissect.Analyzer, board *metrics.Board) (*served, *bool) {
	reading, opened := analysis(streams{s.in, io.Discard, s.err}, analyzer, &flags.selection, nil)
	if flags.watch.live.given() {
		live := flags.watch.begin(streams{out: io.Discard}, time.Second)
		reading.live = flags.watch.live.options(flags.ports)
		live.follow(&reading, analyzer, &flags.selection)
	}
	made := &served{}
	open, feed, wait, unread, end := reading.open, reading.frame, reading.waiting, reading.unread, reading.close
	reading.open = func(part *capture.Part) {
		board.Lock()
		defer board.Unlock()
		open(part)
		board.Opened()
	}
	reading.frame = func(f *dissect.Frame) error {
		board.Lock()
		defer board.Unlock()
		return feed(f)
	}
	if wait != nil {
		reading.waiting = func() {
			board.Lock()
			defer board.Unlock()
			wait()
		}
	}
	reading.unread = func(name string, err error) {
		board.Lock()
		defer board.Unlock()
		unread(name, err)
		board.Opened()
		made.fault = err.Error()
	}
	reading.close = func(i int, part *capture.Part, fault error) error {
		board.Lock()
		defer board.Unlock()
		if fault != nil {
			made.fault = fault.Error()
		}
		return end(i, part, fault)
	}
	made.pass = reading
	return made, opened
}
