package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/sim"
)

// outputFlags say which captures are written.
type outputFlags struct {
	names   []string
	snaplen int
	time    timeUnit
}

func (o *outputFlags) register(command *cobra.Command) {
	f := command.Flags()
	f.StringArrayVarP(&o.names, "output", "o", nil, "write what a capture point sees to `[POINT=]FILE`; may be repeated")
	f.IntVar(&o.snaplen, "snaplen", 0, "capture `N` bytes of each frame (default all)")
	o.time = "ns"
	f.Var(&o.time, "time", "unit of times in pcap files: us or ns")
}

// outputHelp explains -o in the help of a command.
const outputHelp = `-o writes a capture: POINT is sender, receiver or the name of a link, whose far
end is meant as seen from the sender; without POINT it is the sender. A % in
FILE stands for the names of the scenario's taps, one file each. The file is
pcap if its name ends in .pcap, else pcapng, and compressed if .gz or .zst
follows; it is overwritten if it is there. - is standard output, which is also
where the sender's capture goes without -o.`

// outputs are the files of a run.
type outputs struct {
	files    []file
	captures []sim.Capture
	truthTo  string
	truth    *truthFile
	writers  []*capture.Writer
	options  capture.WriterOptions
	unit     capture.Form
}

type file struct {
	at   sim.Tap
	name string
}

// plan finds out what is to be written where, before anything is.
func (o *outputFlags) plan(command *cobra.Command, s streams, scenario *sim.Scenario, truth string, reserved []string) (*outputs, error) {
	out := &outputs{truthTo: truth, unit: o.time.form()}
	if o.snaplen < 0 || o.snaplen > 1<<30 {
		return nil, cli.Usage(command, "--snaplen wants a number of bytes")
	}
	out.options = capture.WriterOptions{SnapLen: uint32(o.snaplen), Application: "rdmagen " + cli.Release(), Comment: scenario.About}
	points := scenario.Points()
	for _, name := range o.names {
		at := sim.Tap("sender")
		if before, after, found := strings.Cut(name, "="); found {
			at, name = sim.Tap(before), after
			if !slices.Contains(points, at) {
				return nil, cli.Usage(command, "-o %s=%s: there is no capture point %s; there are %s", at, name, at, joined(points))
			}
			out.files = append(out.files, file{at, name})
			continue
		}
		if !strings.Contains(name, "%") {
			out.files = append(out.files, file{at, name})
			continue
		}
		taps := scenario.Taps
		if len(taps) == 0 {
			taps = []sim.Tap{"sender", "receiver"}
		}
		for _, at := range taps {
			out.files = append(out.files, file{at, strings.ReplaceAll(name, "%", string(at))})
		}
	}
	_, tty := cli.Terminal(s.out)
	if len(o.names) == 0 && !(tty && truth != "") && truth != "-" {
		out.files = append(out.files, file{"sender", "-"})
	}
	if err := out.distinct(reserved); err != nil {
		return nil, cli.UsageError{Err: err, Command: command.CommandPath()}
	}
	if tty && slices.ContainsFunc(out.files, func(f file) bool { return f.name == "-" }) {
		return nil, cli.Usage(command, "a capture would go to the terminal; pipe it, or name a file with -o")
	}
	return out, nil
}

func joined(points []sim.Tap) string {
	var b strings.Builder
	for i, p := range points {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(p))
	}
	return b.String()
}

// distinct makes sure that no file is written twice, nor one that is read.
func (o *outputs) distinct(reserved []string) error {
	seen := append([]string{}, reserved...)
	names := []string{}
	for _, f := range o.files {
		names = append(names, f.name)
	}
	if o.truthTo != "" {
		names = append(names, o.truthTo)
	}
	for _, name := range names {
		if name == "" {
			return errors.New("-o wants the name of a file, or - for standard output")
		}
		for _, other := range seen {
			if same(name, other) {
				return fmt.Errorf("%s would be used twice: name another file", name)
			}
		}
		seen = append(seen, name)
	}
	return nil
}

// same reports whether two names are of one file. Devices may be written to by
// several.
func same(a, b string) bool {
	if a == "-" || b == "-" {
		return a == b
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y) && x.Mode().IsRegular()
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// open begins the files.
func (o *outputs) open(s streams) (err error) {
	for _, f := range o.files {
		options, w := o.options, (*capture.Writer)(nil)
		options.Form = capture.FormOf(f.name, o.unit)
		if f.name == "-" {
			w, err = capture.NewWriter(s.out, "standard output", options)
		} else {
			w, err = capture.Create(f.name, options)
		}
		if err != nil {
			return errors.Join(err, o.close())
		}
		o.writers = append(o.writers, w)
		o.captures = append(o.captures, sim.Capture{At: f.at, SnapLen: int(o.options.SnapLen), Frame: w.WriteFrame})
	}
	switch o.truthTo {
	case "":
		return nil
	case "-":
		o.truth = &truthFile{bufio.NewWriter(s.out), "standard output", nil}
		return nil
	}
	out, err := os.Create(o.truthTo)
	if err != nil {
		return errors.Join(fileError(o.truthTo, err), o.close())
	}
	o.truth = &truthFile{bufio.NewWriter(out), o.truthTo, out}
	return nil
}

// close completes the files and gives the first fault.
func (o *outputs) close() error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, w := range o.writers {
		keep(w.Close())
	}
	if t := o.truth; t != nil {
		keep(fileError(t.name, t.Flush()))
		if t.close != nil {
			keep(fileError(t.name, t.close.Close()))
		}
	}
	return first
}

// fileError says which file an error is about; nil stays nil.
func fileError(name string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// timeUnit is the value of --time.
type timeUnit string

func (t *timeUnit) String() string { return string(*t) }
func (t *timeUnit) Type() string   { return "unit" }

func (t *timeUnit) Set(s string) error {
	if s != "us" && s != "ns" {
		return errors.New("want us or ns")
	}
	*t = timeUnit(s)
	return nil
}

func (t *timeUnit) form() capture.Form {
	if *t == "us" {
		return capture.PcapMicro
	}
	return capture.PcapNano
}
