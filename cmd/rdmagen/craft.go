package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/craft"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/psn"
)

// craftFlags are the flags of craft.
type craftFlags struct {
	said   []saying // keys in the order in which they were given
	tags   []string
	count  int
	seed   uint64
	cut    int
	output fileFlags
}

// saying is a key and what a flag says of it.
type saying struct{ key, text string }

func newCraft(s streams) *cobra.Command {
	flags := craftFlags{}
	command := &cobra.Command{
		Use:   "craft [flags] [FILE]",
		Short: "Make single packets, right or wrong ones",
		Long: `craft makes the packets that lines of JSON describe, with the keys of rdmadump
read --json, or one packet that the flags describe. FILE is - for standard
input, which is also what is read without FILE where no flag describes a packet.
Flags given beside lines change what every line says.

What is not said is completed: headers that the opcode has, addresses, lengths,
checksums, pad, ICRC; payload comes from the seed. What is said is written as it
is said, right or wrong. A line of rdmadump read --json=full says everything,
and gives the same frame byte for byte.

Every field of every header is a flag too, named as in rdmadump fields:
--bth.psn 7, --reth.va 0x1000, --aeth.syndrome 96, reserved ones --bth.rsv6 1,
outer ones --eth.dst, --ip.ttl, --udp.dstport, --grh.hoplmt, --lrh.sl. The value
auto takes away what a line says, so that it is completed: --ip.checksum auto.`,
		Example: `  rdmadump read --json=full x.pcap | rdmagen craft -o y.pcap
  rdmagen craft --opcode rc-rdma-write-only --payload-len 64 -o x.pcap
  rdmagen craft --opcode rc-send-only --icrc bad --pad 3 | rdmadump read -v -
  rdmagen craft --icrc bad lines.json -o wrong.pcap`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := flags.check(command); err != nil {
				return err
			}
			return flags.run(command, s, args)
		},
	}
	flags.register(command)
	command.SetFlagErrorFunc(unknownField)
	return command
}

func (c *craftFlags) register(command *cobra.Command) {
	f := command.Flags()
	f.SortFlags = false
	for _, k := range []struct{ flag, key, kind, usage string }{
		{"opcode", "opcode", "name", "operation: a name such as rc-send-only, or a number"},
		{"carrier", "carrier", "name", "ipv4 or ipv6 (RoCEv2), rocev1, ib or ib-grh (native InfiniBand)"},
		{"src", "src", "address", "IP address, GID, or lid:N (default 10.0.0.1)"},
		{"dst", "dst", "address", "the same of the destination (default 10.0.0.2)"},
		{"sport", "sport", "port", "UDP source port (default 49152)"},
		{"payload", "payload", "hex", "payload"},
		{"payload-len", "payload_len", "N", "bytes of payload from the seed (default 256, where there is any)"},
		{"immdt", "immdt", "N", "immediate data"},
		{"pad", "pad", "N", "bytes of pad (default as many as make whole words)"},
		{"icrc", "icrc", "how", "good, bad, none, or 8 hexadecimal digits (default good)"},
		{"trailer", "trailer", "hex", "what follows the packet, such as an FCS"},
		{"encap", "encap", "hex", "what stands before the network header, such as a tunnel"},
		{"link", "link", "N", "link type (default 1, Ethernet; of native InfiniBand 247)"},
		{"wirelen", "wirelen", "N", "length on the wire (default that of the whole frame)"},
		{"time", "time", "time", "seconds since 1970 (default 1700000000, then 1 us more each)"},
	} {
		f.Var(&fieldFlag{k.key, k.kind, &c.said}, k.flag, k.usage)
	}
	f.StringArrayVar(&c.tags, "vlan", nil, "`ID` of a VLAN tag, outermost first; may be repeated")
	f.IntVar(&c.cut, "cut", 0, "capture `N` bytes of each frame (default all)")
	f.IntVar(&c.count, "count", 1, "make `N` packets of what the flags describe, PSNs counting up")
	f.Uint64Var(&c.seed, "seed", 1, "seed `N` of payload")
	c.output.register(command)
	for _, header := range craft.Keys() {
		for _, field := range craft.Fields(header) {
			key := header + "." + field
			f.Var(&fieldFlag{key, "value", &c.said}, key, "")
			f.Lookup(key).Hidden = true
		}
	}
}

// fieldFlag is a flag that says something of a packet.
type fieldFlag struct {
	key, kind string
	said      *[]saying
}

func (v *fieldFlag) String() string { return "" }
func (v *fieldFlag) Type() string   { return v.kind }

func (v *fieldFlag) Set(text string) error {
	*v.said = append(*v.said, saying{v.key, text})
	return nil
}

// unknownField names the fields that a header has, where a flag names another.
func unknownField(command *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		header, _, nested := strings.Cut(unknown.GetSpecifiedName(), ".")
		switch fields := craft.Fields(header); {
		case fields != nil:
			return cli.Usage(command, "--%s: no such field; %s has %s", unknown.GetSpecifiedName(), header, strings.Join(fields, ", "))
		case nested:
			return cli.Usage(command, "--%s: no such header; see rdmadump fields", unknown.GetSpecifiedName())
		}
	}
	return cli.FlagError(command, err)
}

// check finds what is wrong with the flags themselves.
func (c *craftFlags) check(command *cobra.Command) error {
	switch changed := command.Flags().Changed; {
	case c.cut < 0 || changed("cut") && c.cut == 0:
		return cli.Usage(command, "--cut wants a number of bytes above 0")
	case c.count < 1:
		return cli.Usage(command, "--count wants a number above 0")
	}
	_, err := c.tagList()
	if err != nil {
		return cli.UsageError{Err: err, Command: command.CommandPath()}
	}
	return nil
}

// run makes the packets.
func (c *craftFlags) run(command *cobra.Command, s streams, args []string) error {
	if len(args) == 0 && len(c.said) == 0 && c.tags == nil {
		args = []string{"-"}
		if typed(s.in) {
			return cli.Usage(command, "a packet is missing: describe one by flags, or name a file with lines of JSON")
		}
	}
	if err := c.output.check(command, s, args); err != nil {
		return err
	}
	source, err := c.source(command, s, args)
	if err != nil {
		return err
	}
	defer source.close()
	interrupted, restore := signal.NotifyContext(context.Background(), cli.EndSignals()...)
	defer restore()
	context.AfterFunc(interrupted, restore) // a second one ends the program at once
	b, f, w := craft.Builder{Seed: c.seed}, dissect.Frame{}, (*capture.Writer)(nil)
	source.waiting(func() {
		if w != nil {
			_ = w.Flush() // the writer keeps a fault
		}
	})
	for err == nil {
		if err = c.next(source, &b, &f); err != nil {
			break
		}
		if w == nil {
			if w, err = c.output.create(s, capture.WriterOptions{}); err != nil {
				return err
			}
		}
		if err = w.WriteFrame(&f); err == nil && interrupted.Err() != nil {
			err = errInterrupted
		}
	}
	if err == io.EOF {
		err = nil
		if w == nil { // of no lines, a capture without frames
			w, err = c.output.create(s, capture.WriterOptions{})
		}
	}
	if w != nil {
		if closing := w.Close(); err == nil {
			err = closing
		}
	}
	return err
}

// next makes the next frame.
func (c *craftFlags) next(from *source, b *craft.Builder, f *dissect.Frame) error {
	o, err := from.next()
	if err != nil {
		return err
	}
	if err := b.Frame(o, f); err != nil {
		return from.fault(err)
	}
	if c.cut > 0 {
		f.Data = f.Data[:min(c.cut, len(f.Data))]
	}
	return nil
}

// typed reports whether somebody would have to type the input.
func typed(in io.Reader) bool {
	file, ok := in.(*os.File)
	if ok {
		_, ok = cli.Terminal(file)
	}
	return ok
}

// source is where descriptions of packets come from.
type source struct {
	next  func() (craft.Object, error)
	fault func(error) error // says where the last description stands
	lines *craft.Lines      // nil where it is the flags
	close func()
}

// waiting sets what is called before input is waited for.
func (s *source) waiting(f func()) {
	if s.lines != nil {
		s.lines.Waiting = f
	}
}

// source is a file, or the flags.
func (c *craftFlags) source(command *cobra.Command, s streams, args []string) (*source, error) {
	if len(args) == 0 {
		return c.described(command), nil
	}
	in, name, end := s.in, "standard input", func() {}
	if args[0] != "-" {
		file, err := os.Open(args[0])
		if err != nil {
			return nil, fileError(args[0], err)
		}
		in, name, end = file, args[0], func() { file.Close() }
	}
	if command.Flags().Changed("count") {
		return nil, cli.Usage(command, "--count goes with a packet that the flags describe, not with lines")
	}
	lines := craft.NewLines(in, name)
	return &source{
		next: func() (craft.Object, error) {
			o, err := lines.Next()
			if err != nil {
				return nil, err
			}
			return o, c.apply(command, o)
		},
		fault: lines.Fault, lines: lines, close: end,
	}, nil
}

// described makes packets of the flags alone.
func (c *craftFlags) described(command *cobra.Command) *source {
	n := 0
	next := func() (craft.Object, error) {
		if n == c.count {
			return nil, io.EOF
		}
		o := craft.Object{}
		if err := c.apply(command, o); err != nil {
			return nil, err
		}
		if n > 0 {
			if err := countUp(o, n); err != nil {
				return nil, err
			}
		}
		n++
		return o, nil
	}
	wrong := func(err error) error { return cli.UsageError{Err: err, Command: command.CommandPath()} }
	return &source{next: next, fault: wrong, close: func() {}}
}

// countUp gives the n-th packet, from 0, its PSN.
func countUp(o craft.Object, n int) error {
	first := uint64(0)
	if in, ok := o["bth"].(map[string]any); ok {
		if text, ok := in["psn"].(string); ok {
			first, _ = strconv.ParseUint(text, 0, psn.Bits) // the first packet has told whether it is one
		}
	}
	o.Drop("time")
	return o.Set("bth.psn", strconv.FormatUint((first+uint64(n))&psn.Mask, 10))
}

// apply changes what is said of a packet to what the flags say.
func (c *craftFlags) apply(command *cobra.Command, o craft.Object) error {
	for _, v := range c.said {
		var err error
		for _, other := range shadows[v.key] {
			o.Drop(other)
		}
		switch {
		case v.text == "auto":
			o.Drop(v.key)
		case v.key == "opcode" && isNumber(v.text):
			err = o.Set("bth.opcode", v.text)
		case v.key == "opcode":
			err = o.Set("opcode_name", v.text)
		case v.key == "pad":
			o["pad"] = json.Number(v.text)
		default:
			err = o.Set(v.key, v.text)
		}
		if err != nil {
			return cli.UsageError{Err: err, Command: command.CommandPath()}
		}
	}
	if c.tags != nil {
		o["vlan"], _ = c.tagList()
	}
	return nil
}

// shadows are the keys of a line that say more than what a flag sets.
var shadows = map[string][]string{
	"opcode":      {"bth.opcode", "opcode_name"},
	"icrc":        {"icrc_bytes"},
	"payload_len": {"payload"},
	"src":         {"ip.src", "grh.sgid", "lrh.slid"},
	"dst":         {"ip.dst", "grh.dgid", "lrh.dlid"},
	"sport":       {"udp.srcport"},
}

// isNumber reports a number, in whatever base.
func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 0, 64)
	return err == nil
}

func (c *craftFlags) tagList() ([]any, error) {
	tags := []any{}
	for _, tag := range c.tags {
		if _, err := strconv.ParseUint(tag, 10, 12); err != nil {
			return nil, fmt.Errorf("--vlan %s: want 0 to 4095", tag)
		}
		tags = append(tags, map[string]any{"id": tag})
	}
	return tags, nil
}

// fileFlags say where the one capture of a command goes.
type fileFlags struct {
	name string
	time timeUnit
}

func (o *fileFlags) register(command *cobra.Command) {
	o.time = "ns"
	f := command.Flags()
	f.StringVarP(&o.name, "output", "o", "-", "write the capture to `FILE`; pcap if it ends in .pcap, else pcapng")
	f.Var(&o.time, "time-unit", "of times in pcap files: us or ns")
}

// check finds what must not be written: a capture to a terminal, or over an input.
func (o *fileFlags) check(command *cobra.Command, s streams, inputs []string) error {
	switch {
	case o.name == "":
		return cli.Usage(command, "-o wants the name of a file, or - for standard output")
	case o.name != "-" && slices.ContainsFunc(inputs, func(in string) bool { return in != "-" && same(in, o.name) }):
		return cli.Usage(command, "-o %s is the input: name another file", o.name)
	}
	if _, tty := cli.Terminal(s.out); tty && o.name == "-" {
		return cli.Usage(command, "a capture would go to the terminal; pipe it, or name a file with -o")
	}
	return nil
}

// create begins the capture.
func (o *fileFlags) create(s streams, options capture.WriterOptions) (*capture.Writer, error) {
	options.Form, options.Application = capture.FormOf(o.name, o.time.form()), "rdmagen "+cli.Release()
	if o.name == "-" {
		return capture.NewWriter(s.out, "standard output", options)
	}
	return capture.Create(o.name, options)
}
