package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/sim"
)

// raceFlags are the flags of race.
type raceFlags struct {
	scenarioFlags
	losses   []string
	windows  []int
	timeouts []int
	json     bool
	plot     string
}

// lap is what one transport made of the workload at one loss rate.
type lap struct {
	Transport     string  `json:"transport"`
	Loss          float64 `json:"loss"`
	Time          int64   `json:"completion_ns"` // until the last work request ended
	Incomplete    int64   `json:"incomplete"`    // work requests that failed or did not end
	Data          int64   `json:"data_packets"`
	Payload       int64   `json:"payload_bytes"` // of data packets, resends too
	Needed        int64   `json:"resent_needed"`
	Redundant     int64   `json:"resent_redundant"`
	Feedback      int64   `json:"feedback_packets"`
	FeedbackBytes int64   `json:"feedback_bytes"`    // of frames
	Held          int     `json:"held_packets_peak"` // sent and not acknowledged, at one moment
	HeldBytes     int64   `json:"held_bytes_peak"`   // of their payload
	Efficiency    float64 `json:"efficiency"`        // payload sent once, of the bytes of all frames
}

func newRace(s streams) *cobra.Command {
	var flags raceFlags
	command := &cobra.Command{
		Use:   "race [flags]",
		Short: "Run the same work over the same lossy network with each transport",
		Long: `race runs the same work over the same lossy network with each transport, once for
each loss rate, and prints a line for each: the time until all is done, data
packets, those sent again with and without need, and what the feedback costs. A
resend is redundant if an earlier copy arrived intact. Held is the most that the
send buffer had to keep at one moment, from the oldest packet not acknowledged to
the newest sent, in packets and in bytes of payload. Efficiency is the payload sent
once, of the bytes of all frames in both directions.`,
		Example: "  rdmagen race --size 1MiB --losses 0,0.001,0.01\n  rdmagen race --size 1MiB --windows 4,64 --plot race.svg\n  rdmagen race --qps 50 --size 2KiB --losses 0.05 --ack-timeouts 3,10 --json",
		Args:    cobra.NoArgs,
	}
	flags.register(command)
	f := command.Flags()
	f.StringSliceVar(&flags.losses, "losses", []string{"0", "0.001", "0.01"}, "loss `rates` of data, in addition to what the scenario loses")
	f.IntSliceVar(&flags.windows, "windows", nil, "run go-back-n with each of these `windows` as well")
	f.IntSliceVar(&flags.timeouts, "ack-timeouts", nil, "run go-back-n with each of these timeout `codes` as well")
	f.BoolVar(&flags.json, "json", false, "a line of JSON for each run")
	f.StringVar(&flags.plot, "plot", "", "draw each measure against the loss rate into an SVG `file`")
	command.RunE = func(command *cobra.Command, _ []string) error {
		scenario, err := flags.scenario(command)
		if err != nil {
			return err
		}
		laps, err := flags.laps(command, scenario)
		if err != nil {
			return err
		}
		if flags.plot != "" {
			if err := os.WriteFile(flags.plot, drawLaps(laps), 0o666); err != nil {
				return fileError(flags.plot, err)
			}
		}
		return showLaps(s.out, laps, flags.json)
	}
	return command
}

// laps runs every transport at every loss rate.
func (flags *raceFlags) laps(command *cobra.Command, scenario *sim.Scenario) (laps []lap, err error) {
	for _, text := range flags.losses {
		p, err := strconv.ParseFloat(text, 64)
		if err != nil || !(p >= 0 && p <= 1) {
			return nil, cli.Usage(command, "invalid argument %q for \"--losses\" flag: want probabilities from 0 to 1", text)
		}
		for _, e := range entrants(scenario, flags.windows, flags.timeouts) {
			l, err := e.run(p)
			if err != nil {
				return nil, err
			}
			laps = append(laps, l)
		}
	}
	return laps, nil
}

// entrant is a transport with its parameters.
type entrant struct {
	name     string
	scenario sim.Scenario
}

// entrants are the transports, each with what suits the scenario: its own
// parameters are those of the transport that it names.
func entrants(s *sim.Scenario, windows, timeouts []int) (all []entrant) {
	add := func(name string, change func(*sim.Scenario)) {
		e := entrant{name, *s}
		change(&e.scenario)
		all = append(all, e)
	}
	for _, name := range sim.TransportNames() {
		add(name, func(c *sim.Scenario) {
			if name != string(s.Transport.Name) {
				c.Transport = sim.Transport{Name: sim.TransportName(name)}
			}
		})
	}
	for _, w := range windows {
		add(fmt.Sprintf("go-back-n window %d", w), func(c *sim.Scenario) {
			c.Transport = sim.Transport{Name: sim.GoBackN, Window: w, AckEvery: min(w, 16)}
		})
	}
	for _, code := range timeouts {
		add(fmt.Sprintf("go-back-n timeout %d", code), func(c *sim.Scenario) {
			c.Transport, c.Pairs.AckTimeout = sim.Transport{Name: sim.GoBackN}, uint8(code)
		})
	}
	return all
}

// run plays the scenario with a loss rate of data on the first links.
func (e *entrant) run(p float64) (lap, error) {
	s := e.scenario
	s.Links = append([]sim.Link(nil), s.Links...)
	s.Paths = append([]sim.Path(nil), s.Paths...)
	for i := range s.Paths {
		s.Paths[i].Links = append([]sim.Link(nil), s.Paths[i].Links...)
	}
	if p > 0 {
		for _, l := range firstLinks(&s) {
			l.There.Loss = append(l.There.Loss[:len(l.There.Loss):len(l.There.Loss)], sim.Pick{Model: sim.Bernoulli, P: p, Only: sim.OnlyData})
		}
	}
	books := resendBooks{}
	r, err := sim.Run(&s, sim.Output{Truth: &books})
	if err != nil {
		return lap{}, fmt.Errorf("%s: %w", e.name, err)
	}
	l := lap{Transport: e.name, Loss: p, Time: int64(r.LastEnded), Incomplete: r.Failed() + r.Unfinished(),
		Data: r.Data, Payload: r.Payload, Feedback: r.Acks, FeedbackBytes: r.AckBytes}
	l.Needed, l.Redundant = books.sums()
	for i := range r.Held {
		l.Held, l.HeldBytes = max(l.Held, r.Held[i].MostPackets), max(l.HeldBytes, r.Held[i].MostBytes)
	}
	if r.Bytes > 0 {
		l.Efficiency = float64(r.Payload-r.ResentLoad) / float64(r.Bytes)
	}
	return l, nil
}

func showLaps(w io.Writer, laps []lap, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		for i := range laps {
			if err := encoder.Encode(&laps[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "loss\ttransport\ttime us\tincomplete\tdata\tresent needed\tredundant\tfeedback\tfeedback bytes\theld\theld bytes\tefficiency\t")
	for i := range laps {
		l := &laps[i]
		fmt.Fprintf(t, "%g\t%s\t%.1f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.3f\t\n", l.Loss, l.Transport, float64(l.Time)/1e3, l.Incomplete, l.Data,
			l.Needed, l.Redundant, l.Feedback, l.FeedbackBytes, l.Held, l.HeldBytes, l.Efficiency)
	}
	return t.Flush()
}
