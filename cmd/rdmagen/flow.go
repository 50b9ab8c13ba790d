package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/sim"
	"github.com/rdmadump/rdmadump/transport"
)

// flowFlags are the flags of flow.
type flowFlags struct {
	scenarioFlags
	outputs outputFlags
	truth   string
}

func newFlow(s streams) *cobra.Command {
	flags := flowFlags{}
	command := &cobra.Command{
		Use:   "flow [flags]",
		Short: "Make the traffic of queue pairs over a lossy network",
		Long: `flow lets queue pairs send messages over a simulated network and writes what
capture points see. What is sent, and what becomes of it, is a scenario: the
flags describe a simple one, -f reads any other from a YAML file, and flags
given beside it change what it says. The same scenario gives the same bytes.

` + outputHelp + `

--truth writes what became of every packet that was sent, a line of JSON each.

Payload comes from the seed. Every byte that arrives is compared with what was
sent; a wrong one ends the run.`,
		Example: `  rdmagen flow --count 20 --loss 0.01 | rdmadump loss -
  rdmagen flow --drop 1003:1 --start-psn 1000 -o receiver=r.pcap
  rdmagen flow -f scenario.yaml -o '%.pcapng' --truth truth.json`,
		Args: cli.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			scenario, err := flags.scenario(command)
			if err != nil {
				return err
			}
			return flags.run(command, s, scenario)
		},
	}
	flags.scenarioFlags.register(command)
	flags.outputs.register(command)
	f := command.Flags()
	f.StringVar(&flags.truth, "truth", "", "write the truth to `FILE`, - for standard output")
	return command
}

// run plays the scenario.
func (flags *flowFlags) run(command *cobra.Command, s streams, scenario *sim.Scenario) error {
	var reserved []string
	if flags.file != "" {
		reserved = append(reserved, flags.file)
	}
	outputs, err := flags.outputs.plan(command, s, scenario, flags.truth, reserved)
	if err != nil {
		return err
	}
	if err := outputs.open(s); err != nil {
		return err
	}
	watch := newProgress(s, scenario)
	interrupted, restore := signal.NotifyContext(context.Background(), cli.EndSignals()...)
	defer restore()
	context.AfterFunc(interrupted, restore) // a second one ends the program at once
	o := sim.Output{Captures: outputs.captures, Progress: func(r *sim.Result) error {
		if interrupted.Err() != nil {
			return errInterrupted
		}
		watch.show(r)
		return nil
	}}
	if outputs.truth != nil {
		o.Truth = outputs.truth
	}
	result, err := sim.Run(scenario, o)
	watch.clear()
	if closing := outputs.close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	for _, note := range notes(result) {
		s.complain(errors.New(note))
	}
	return nil
}

// errInterrupted ends a run, and what was written until then is complete.
var errInterrupted = errors.New("interrupted")

// notes say what an application would have noticed. Nothing is said of work that
// has ended well.
func notes(r *sim.Result) (all []string) {
	if n := r.Failed(); n > 0 {
		text := fmt.Sprintf("%d of %d work requests failed:", n, r.Posted)
		for status, count := range r.Ended {
			if s := transport.Status(status); s != transport.Success && count > 0 {
				text += fmt.Sprintf(" %d %s,", count, statusText(s))
			}
		}
		all = append(all, strings.TrimSuffix(text, ","))
	}
	if n := r.Unfinished(); n > 0 {
		text := fmt.Sprintf("%d of %d work requests did not end", n, r.Posted)
		if r.BrokenOff {
			text += fmt.Sprintf(" within %v", r.Time)
		}
		all = append(all, text)
	}
	if len(r.Missed) > 0 {
		all = append(all, neverCame(r.Missed))
	}
	return all
}

// neverCame says which copies were to be lost, or the like, and never came by.
func neverCame(missed []sim.Copy) string {
	const most = 5
	var names []string
	for _, c := range missed[:min(most, len(missed))] {
		names = append(names, c.String())
	}
	text := "no packet was PSN " + strings.Join(names, ", ")
	if more := len(missed) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ", so that nothing was done to it"
}

// statusText is a status in the words of verbs.
func statusText(s transport.Status) string {
	names := map[transport.Status]string{
		transport.LocalLength: "local length error", transport.Flushed: "flushed", transport.RemoteInvalid: "remote invalid request error",
		transport.RemoteAccess: "remote access error", transport.RemoteOp: "remote operation error",
		transport.RetryExceeded: "retry exceeded", transport.RNRExceeded: "RNR retry exceeded",
	}
	if name := names[s]; name != "" {
		return name
	}
	return fmt.Sprintf("status %d", s)
}

// truthFile is where the truth goes.
type truthFile struct {
	*bufio.Writer
	name  string
	close io.Closer // nil for standard output
}

func (t *truthFile) Write(b []byte) (int, error) {
	n, err := t.Writer.Write(b)
	return n, fileError(t.name, err)
}
