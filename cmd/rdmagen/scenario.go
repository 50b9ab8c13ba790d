package main

import (
	"encoding"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/sim"
)

// scenarioFlags describe a scenario.
type scenarioFlags struct {
	file   string
	simple []setting
}

// setting is a flag that sets one thing.
type setting struct {
	name, value, kind, usage string
	apply                    func(s *sim.Scenario, v string) error
	given                    []string
}

func (v *setting) String() string { return v.value }
func (v *setting) Type() string   { return v.kind }
func (v *setting) Set(s string) error {
	scratch := sim.Default()
	if err := v.apply(&scratch, s); err != nil {
		return err
	}
	v.given, v.value = append(v.given, s), s
	return nil
}

// register adds the flags to a command.
func (c *scenarioFlags) register(command *cobra.Command) {
	f := command.Flags()
	f.StringVarP(&c.file, "file", "f", "", "read the scenario from `FILE`")
	c.simple = settings()
	for i := range c.simple {
		v := &c.simple[i]
		flag := f.VarPF(v, v.name, "", v.usage)
		if v.kind == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// scenario is what file and flags describe.
func (c *scenarioFlags) scenario(command *cobra.Command) (*sim.Scenario, error) {
	s := sim.Default()
	if c.file != "" {
		text, err := os.ReadFile(c.file)
		if err != nil {
			return nil, fileError(c.file, err)
		}
		read, err := sim.Parse(text, c.file)
		if err != nil {
			return nil, err
		}
		s = *read
	} else if command.Flags().Changed("file") {
		return nil, cli.Usage(command, "-f wants the name of a file")
	}
	for i := range c.simple {
		for _, v := range c.simple[i].given {
			if err := c.simple[i].apply(&s, v); err != nil {
				return nil, cli.Usage(command, "invalid argument %q for \"--%s\" flag: %w", v, c.simple[i].name, err)
			}
		}
	}
	if err := s.Check(); err != nil {
		return nil, cli.UsageError{Err: err, Command: command.CommandPath()}
	}
	return &s, nil
}

// settings are the flags that set one thing each.
func settings() []setting {
	d := sim.Default()
	return []setting{
		text("transport", string(d.Transport.Name), "name", "how loss is recovered: "+strings.Join(sim.TransportNames(), ", "), func(s *sim.Scenario) encoding.TextUnmarshaler { return &s.Transport.Name }),
		text("mode", "anchored", "name", "windowless: anchored or literal", func(s *sim.Scenario) encoding.TextUnmarshaler { return &s.Transport.Mode }),
		whole("window", "", "go-back-n: packets in flight at most", func(s *sim.Scenario) *int { return &s.Transport.Window }),
		everyWork("verb", string(d.Work[0].Verb), "verb", "what the messages are: "+strings.Join(sim.VerbNames(), ", "), func(w *sim.Work) encoding.TextUnmarshaler { return &w.Verb }),
		everyWork("size", "64KiB", "bytes", "size of each message, or a range such as 1KiB..64KiB", func(w *sim.Work) encoding.TextUnmarshaler { return &w.Size }),
		{name: "count", value: "1", kind: "N", usage: "messages of each queue pair", apply: func(s *sim.Scenario, v string) error {
			for i := range s.Work {
				if err := parseInt(&s.Work[i].Count, v); err != nil {
					return err
				}
			}
			return nil
		}},
		whole("qps", strconv.Itoa(d.Pairs.Count), "queue pairs", func(s *sim.Scenario) *int { return &s.Pairs.Count }),
		whole("mtu", strconv.Itoa(d.Pairs.MTU), "path MTU in bytes: 256, 512, 1024, 2048 or 4096", func(s *sim.Scenario) *int { return &s.Pairs.MTU }),
		{name: "start-psn", value: "random", kind: "PSN", usage: "first PSN of each send queue", apply: startPSN},
		{name: "loss", kind: "P", usage: "lose packets to the receiver with this probability", apply: func(s *sim.Scenario, v string) error {
			return lose(s, v, func(l *sim.Link) *[]sim.Pick { return &l.There.Loss })
		}},
		{name: "loss-back", kind: "P", usage: "lose packets to the sender with this probability", apply: func(s *sim.Scenario, v string) error {
			return lose(s, v, func(l *sim.Link) *[]sim.Pick { return &l.Back.Loss })
		}},
		{name: "drop", kind: "PSN[:COPY]", usage: "lose this transmission of a PSN to the receiver, all of them without COPY; may be repeated", apply: drop},
		{name: "rate", value: d.Sender.Rate.String(), kind: "rate", usage: "rate of both ports", apply: func(s *sim.Scenario, v string) error {
			err := s.Sender.Rate.UnmarshalText([]byte(v))
			s.Receiver.Rate = s.Sender.Rate
			return err
		}},
		{name: "delay", value: d.Links[0].Delay.String(), kind: "time", usage: "propagation delay of each link", apply: delay},
		{name: "ack-timeout", value: strconv.Itoa(int(d.Pairs.AckTimeout)), kind: "CODE", usage: "time to an acknowledgement: 4.096us x 2^CODE, 0 for none", apply: func(s *sim.Scenario, v string) error {
			n, err := strconv.ParseUint(v, 10, 5)
			if err != nil {
				return errors.New("want 0 to 31")
			}
			s.Pairs.AckTimeout = uint8(n)
			return nil
		}},
		text("carrier", string(d.Carrier), "name", "ipv4 or ipv6 (RoCEv2), rocev1, ib or ib-grh (native InfiniBand)", func(s *sim.Scenario) encoding.TextUnmarshaler { return &s.Carrier }),
		{name: "vlan", kind: "ID", usage: "VLAN tag, outermost first; may be repeated", apply: func(s *sim.Scenario, v string) error {
			n, err := strconv.ParseUint(v, 10, 12)
			if err != nil {
				return errors.New("want 0 to 4095")
			}
			s.VLAN = append(s.VLAN, uint16(n))
			return nil
		}},
		{name: "cm", kind: "bool", usage: "set up and tear down each connection by connection management", apply: func(s *sim.Scenario, v string) (err error) {
			if s.Handshake, err = strconv.ParseBool(v); err != nil {
				return errors.New("want true or false")
			}
			return nil
		}},
		{name: "seed", value: "1", kind: "N", usage: "seed of every random choice", apply: func(s *sim.Scenario, v string) (err error) {
			if s.Seed, err = strconv.ParseUint(v, 0, 64); err != nil {
				return errors.New("want a whole number")
			}
			return nil
		}},
	}
}

// text is a flag for what knows how to read itself.
func text(name, value, kind, usage string, where func(*sim.Scenario) encoding.TextUnmarshaler) setting {
	return setting{name: name, value: value, kind: kind, usage: usage, apply: func(s *sim.Scenario, v string) error {
		return where(s).UnmarshalText([]byte(v))
	}}
}

// everyWork is text for every kind of work.
func everyWork(name, value, kind, usage string, where func(*sim.Work) encoding.TextUnmarshaler) setting {
	return setting{name: name, value: value, kind: kind, usage: usage, apply: func(s *sim.Scenario, v string) error {
		for i := range s.Work {
			if err := where(&s.Work[i]).UnmarshalText([]byte(v)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// whole is a flag for a number.
func whole(name, value, usage string, where func(*sim.Scenario) *int) setting {
	return setting{name: name, value: value, kind: "N", usage: usage, apply: func(s *sim.Scenario, v string) error {
		return parseInt(where(s), v)
	}}
}

func parseInt(n *int, v string) (err error) {
	if *n, err = strconv.Atoi(v); err != nil {
		return errors.New("want a whole number")
	}
	return nil
}

func startPSN(s *sim.Scenario, v string) error {
	if v == "random" {
		s.Pairs.StartPSN = nil
		return nil
	}
	p, err := parsePSN(v)
	s.Pairs.StartPSN = &p
	return err
}

func parsePSN(v string) (psn.PSN, error) {
	n, err := strconv.ParseUint(v, 0, psn.Bits)
	if err != nil {
		return 0, fmt.Errorf("want a PSN from 0 to %d", psn.Mask)
	}
	return psn.PSN(n), nil
}

// firstLinks are the first links of all paths.
func firstLinks(s *sim.Scenario) (links []*sim.Link) {
	if len(s.Paths) == 0 && len(s.Links) > 0 {
		return []*sim.Link{&s.Links[0]}
	}
	for i := range s.Paths {
		links = append(links, &s.Paths[i].Links[0])
	}
	return links
}

func lose(s *sim.Scenario, v string, where func(*sim.Link) *[]sim.Pick) error {
	p, err := strconv.ParseFloat(v, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return errors.New("want a probability from 0 to 1")
	}
	for _, l := range firstLinks(s) {
		if p > 0 {
			picks := where(l)
			*picks = append(*picks, sim.Pick{Model: sim.Bernoulli, P: p})
		}
	}
	return nil
}

func drop(s *sim.Scenario, v string) error {
	number, nth, several := strings.Cut(v, ":")
	p, err := parsePSN(number)
	if err != nil {
		return err
	}
	c := sim.Copy{PSN: p}
	if several {
		if c.Copy, err = strconv.Atoi(nth); err != nil || c.Copy < 1 {
			return errors.New("want a number of 1 or more behind the colon")
		}
	}
	for _, l := range firstLinks(s) {
		l.There.Loss = append(l.There.Loss, sim.Pick{Model: sim.ByPSN, PSN: []sim.Copy{c}})
	}
	return nil
}

func delay(s *sim.Scenario, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return errors.New("want a duration such as 10us")
	}
	for i := range s.Links {
		s.Links[i].Delay = d
	}
	for i := range s.Paths {
		for k := range s.Paths[i].Links {
			s.Paths[i].Links[k].Delay = d
		}
	}
	return nil
}
