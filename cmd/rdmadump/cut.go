package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// cutFlags are the flags of read that write a part of captures.
type cutFlags struct {
	name  string // of the output, empty without -w
	strip bool
	icrc  icrcChoice

	rotateSize  byteSize
	rotateEvery period
	keep        number
}

// register adds the flags to a command.
func (c *cutFlags) register(command *cobra.Command) {
	f := command.Flags()
	f.StringVarP(&c.name, "write", "w", "", "write the packets to `OUT` as pcapng, in place of printing them")
	f.BoolVar(&c.strip, "strip-payload", false, "write zeros in place of what applications sent")
	f.Var(&c.rotateSize, "rotate-size", "begin a new file when one has this `size`; the names get a number and a time")
	f.Var(&c.rotateEvery, "rotate-every", "begin a new file when one covers this `time`")
	f.Var(&c.keep, "keep", "keep the newest `N` of these files")
	f.Var(&c.icrc, "icrc", "the ICRC of packets whose payload was taken out: anew makes a right one (of a wrong one, one that is wrong), left keeps what was there")
}

// cutHelp explains the flags in the help of read.
const cutHelp = `-w writes the packets as a pcapng capture in place of printing them (-v, -x or
--json print them all the same). OUT is compressed if its name ends in .gz or
.zst, and overwritten if it is there; - is standard output. --rotate-size and
--rotate-every make a row of files of it, of which --keep keeps the newest.

--strip-payload makes a capture that a vendor may see. Zeros stand for payload,
pad, private data of connection management, other management datagrams, UDP and
GRE checksums, and what follows the ICRC. All headers stay, and with them
addresses, keys, immediate data and the operands of atomics. The ICRC is made
anew, so that loss reports stay the same; --icrc=left leaves it, which gives
away 32 bits about each payload: short ones can be worked out from that.`

// check finds what is wrong with the flags before anything is read.
func (c *cutFlags) check(command *cobra.Command, s streams, names []string, prints bool) error {
	switch changed := command.Flags().Changed; {
	case changed("write") && c.name == "":
		return errors.New("-w wants the name of a file, or - for standard output")
	case c.name == "" && (c.rotate().Wanted() || c.keep > 0):
		return errors.New("--rotate-size, --rotate-every and --keep want -w OUT")
	case c.name == "-" && c.rotate().Wanted():
		return errors.New("standard output is one stream: --rotate-size and --rotate-every want the name of a file")
	case c.keep > 0 && !c.rotate().Wanted():
		return errors.New("--keep wants --rotate-size or --rotate-every")
	case c.name == "" && c.strip:
		return errors.New("--strip-payload wants -w OUT")
	case !c.strip && changed("icrc"):
		return errors.New("--icrc wants --strip-payload")
	case c.name == "-" && prints:
		return errors.New("-w - and -v, -x or --json cannot share standard output")
	}
	if c.name != "-" {
		return c.another(s, names)
	}
	if _, tty := cli.Terminal(s.out); tty {
		return errors.New("-w - would write a capture to the terminal; pipe it, or name a file")
	}
	return nil
}

// rotate says when to begin a new file.
func (c *cutFlags) rotate() capture.Rotate {
	return capture.Rotate{Size: int64(c.rotateSize), Every: time.Duration(c.rotateEvery), Files: int(c.keep)}
}

// another makes sure that the output has a place, so that a recorder on a quiet link
// does not fail at its first packet, and is none of the inputs, by whatever name.
func (c *cutFlags) another(s streams, names []string) error {
	dir := filepath.Dir(c.name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("-w %s: %s is no directory", c.name, dir)
	}
	out, err := os.Stat(c.name)
	if err == nil && out.IsDir() {
		return fmt.Errorf("-w %s is a directory: name a file in it", c.name)
	}
	if err != nil || !out.Mode().IsRegular() {
		return nil // not there yet, or nothing that writing would destroy
	}
	if i := s.same(out, names); i >= 0 {
		return fmt.Errorf("-w %s is the input %s: name another file", c.name, names[i])
	}
	return nil
}

// begin readies what is to write the packets of a selection.
func (c *cutFlags) begin(s streams, locator dissect.Locator, chosen *dissect.Selection) *cut {
	out := &cut{cutFlags: c, streams: s, chosen: chosen}
	if c.strip {
		out.stripper = &dissect.Stripper{Locator: locator, LeaveICRC: c.icrc == "left"}
	}
	return out
}

// cut writes a part of captures.
type cut struct {
	*cutFlags
	streams
	chosen   *dissect.Selection
	stripper *dissect.Stripper // nil if payload stays
	part     *capture.Part     // that is being read, nil before the first
	writer   *capture.Writer   // nil before the first frame
	file     int               // index of that
	told     []uint64          // drops of each of its interfaces that were written already
	flushed  time.Time         // of a live capture
	frames   int64
}

// write writes a frame.
func (c *cut) write(f *dissect.Frame) error {
	if err := c.open(); err != nil {
		return err
	}
	if c.stripper != nil {
		if f = c.stripper.Strip(f); f == nil {
			return nil
		}
	}
	c.frames++
	return c.writer.WriteFrame(f)
}

// flush writes out what was collected. The writer keeps a fault for the next
// frame.
func (c *cut) flush() {
	if c.writer != nil {
		_ = c.writer.Flush()
	}
}

// keepUp lets out once a second what was collected of a live capture, so that a
// kill loses no more than that: more often would spoil compression.
func (c *cut) keepUp() {
	if now := time.Now(); now.Sub(c.flushed) > time.Second {
		c.flushed = now
		_ = c.drops(0, c.part.Info()) // the writer keeps a fault
		c.flush()
	}
}

// open begins the output, unless it was begun. Until the first frame a
// selection does not know its times, and a mistyped input overwrites nothing.
func (c *cut) open() (err error) {
	if c.writer != nil {
		return nil
	}
	o := capture.WriterOptions{Application: "rdmadump " + cli.Release(), Comment: c.comment(), Rotate: c.rotate()}
	o.Describe = func(f *dissect.Frame) capture.Interface { return c.part.Info().Interfaces[f.Interface] }
	if c.name == "-" {
		c.writer, err = capture.NewWriter(c.out, "standard output", o)
	} else {
		c.writer, err = capture.Create(c.name, o)
	}
	return err
}

// comment says in the capture itself what it is a part of, and what was done to
// it. File names are not for everybody's eyes.
func (c *cut) comment() string {
	text := "RDMA packets cut out of a capture by rdmadump"
	if c.chosen != nil {
		text += ": " + report.Selected(c.chosen)
	}
	if c.stripper != nil {
		text += "; " + c.stripped()
	}
	return text
}

// stripped says what was done to the packets.
func (c *cut) stripped() string {
	if c.stripper.LeaveICRC {
		return "payload zeroed, ICRC left as captured"
	}
	return "payload zeroed, ICRC made anew"
}

// drops keeps how many packets the i-th capture lost. What it does not say of
// which interface is put down to the first.
func (c *cut) drops(i int, info capture.Info) error {
	if c.writer == nil {
		return nil
	}
	if i != c.file {
		c.file, c.told = i, nil
	}
	rest := info.Drops
	for _, in := range info.Interfaces {
		rest -= min(rest, in.Drops)
	}
	for index, in := range info.Interfaces {
		if index == 0 {
			in.Drops += rest
		}
		if index == len(c.told) {
			c.told = append(c.told, 0)
		}
		if err := c.writer.AddDrops(i, index, in.Drops-c.told[index]); err != nil {
			return err
		}
		c.told[index] = in.Drops
	}
	return nil
}

// end completes the output and says what it holds.
func (c *cut) end() error {
	if c.part == nil {
		return nil // no input could be opened
	}
	if err := c.open(); err != nil {
		return err
	}
	if err := c.writer.Close(); err != nil {
		return err
	}
	name := c.name
	if name == "-" {
		name = "standard output"
	}
	text := fmt.Sprintf("%s: %d frames written", name, c.frames)
	if c.frames == 1 {
		text = name + ": 1 frame written"
	}
	if c.stripper != nil {
		text += ", " + c.stripped()
		if n := c.stripper.ICRC[dissect.ICRCBad]; n > 0 && !c.stripper.LeaveICRC {
			text += fmt.Sprintf(" (%d wrong before, and wrong still)", n)
		}
	}
	c.complain(errors.New(text))
	return nil
}

// icrcChoice is the value of --icrc.
type icrcChoice string

func (i *icrcChoice) String() string { return string(*i) }
func (i *icrcChoice) Type() string   { return "how" }

func (i *icrcChoice) Set(s string) error {
	if s != "anew" && s != "left" {
		return errors.New("want anew or left")
	}
	*i = icrcChoice(s)
	return nil
}
