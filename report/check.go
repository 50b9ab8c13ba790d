package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/rdmadump/rdmadump/dissect"
)

// Violation is a rule that was broken once, as package conform finds it.
type Violation struct {
	Rule, Severity string
	Frames         []int
	File           *int // of the last frame, where several are read
	Connection     int
	Src, Dst       dissect.Address
	DestQP         dissect.QPN
	Text           string
}

// Check writes violations as they are found, and sums them up.
type Check struct {
	w     io.Writer
	style Style
	width int
	each  int
	err   error
	sums  map[string]*ruleSum
	order []*ruleSum
}

// ruleSum counts a rule.
type ruleSum struct {
	rule, severity string
	n              int64
	flows          map[string]int64
}

// maxSummed bounds the connections that a rule is counted for apart.
const maxSummed = 1000

// NewCheck makes a writer that prints at most each lines of a rule, none wider
// than width where a word allows it.
func NewCheck(w io.Writer, s Style, width, each int) *Check {
	return &Check{w: w, style: s, width: width, each: each, sums: map[string]*ruleSum{}}
}

// Err is the first error of writing.
func (c *Check) Err() error { return c.err }

// Violation prints a violation or a note, unless its rule has had enough lines.
func (c *Check) Violation(v *Violation) {
	key := v.Severity + " " + v.Rule
	sum := c.sums[key]
	if sum == nil {
		sum = &ruleSum{rule: v.Rule, severity: v.Severity, flows: map[string]int64{}}
		c.sums[key] = sum
		c.order = append(c.order, sum)
	}
	sum.n++
	flow := fmt.Sprintf("%s > %s %s", v.Src, v.Dst, v.DestQP)
	if _, known := sum.flows[flow]; known || len(sum.flows) < maxSummed {
		sum.flows[flow]++
	}
	if sum.n > int64(c.each) {
		return
	}
	head := c.paint(v.Severity).text(v.Severity) + "  " + c.style.bold.text(v.Rule) + "  " + c.style.dim.text(flow)
	if v.Connection > 0 {
		head = c.style.dim.text(fmt.Sprintf("#%d ", v.Connection)) + head
	}
	where := "frame "
	if len(v.Frames) > 1 {
		where = "frames "
	}
	for i, frame := range v.Frames {
		if i > 0 {
			where += ", "
		}
		where += fmt.Sprint(frame)
	}
	if v.File != nil {
		where += fmt.Sprintf(" of file %d", *v.File)
	}
	c.print(head + "\n" + fold(where+": "+v.Text, 4, c.width) + "\n")
}

func (c *Check) paint(severity string) paint {
	if severity == "violation" {
		return c.style.bad
	}
	return c.style.warn
}

// Sum prints how often each rule was broken, and a verdict; drops is how many
// frames the capture lost.
func (c *Check) Sum(packets, connections int64, drops uint64) {
	var violations, notes int64
	for _, s := range c.order {
		if s.severity == "violation" {
			violations += s.n
		} else {
			notes += s.n
		}
	}
	if len(c.order) > 0 {
		c.print("\n")
	}
	of := " in " + counted(packets, "packet", "packets") + " of " + counted(connections, "connection", "connections")
	verdict := c.style.good.text("NO VIOLATION") + of
	switch {
	case packets == 0 && len(c.order) == 0:
		verdict = c.style.warn.text("NOTHING TO CHECK") + of
	case violations > 0:
		verdict = c.style.bad.text(counted(violations, "VIOLATION", "VIOLATIONS")) + of
	}
	if notes > 0 {
		verdict += "; " + counted(notes, "note", "notes")
	}
	c.print(verdict + "\n")
	if drops > 0 {
		c.print(fold("this capture lost "+counted(int64(min(drops, math.MaxInt64)), "frame", "frames")+": what looks broken may be what it did not see", 2, c.width) + "\n")
	}
	for _, s := range c.order {
		c.print(fmt.Sprintf("  %s  %s  %s", c.paint(s.severity).text(s.severity), s.rule, grouped(s.n)))
		if s.n > int64(c.each) {
			c.print(fmt.Sprintf(", of which %s are shown", grouped(int64(c.each))))
		}
		c.print("\n")
		names := make([]string, 0, len(s.flows))
		for name := range s.flows {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			if n := int(s.flows[b] - s.flows[a]); n != 0 {
				return n
			}
			return strings.Compare(a, b)
		})
		const most = 10
		for _, name := range names[:min(len(names), most)] {
			c.print(c.style.dim.text(fmt.Sprintf("    %s  %s", grouped(s.flows[name]), name)) + "\n")
		}
		if len(names) > most {
			c.print(c.style.dim.text("    ... and more flows") + "\n")
		}
	}
}

func (c *Check) print(s string) {
	if c.err == nil {
		_, c.err = io.WriteString(c.w, s)
	}
}

// Rule is one that check knows.
type Rule struct {
	Name     string `json:"rule"`
	Severity string `json:"severity"`
	About    string `json:"about"`
	Judged   string `json:"judged"`
	Source   string `json:"source"`
	Text     string `json:"text"`
}

// Rules prints a list of rules.
func Rules(w io.Writer, rules []Rule, s Style, width int) error {
	for _, r := range rules {
		_, err := fmt.Fprintf(w, "%s  %s, %s\n%s\n%s\n", s.bold.text(r.Name), r.About, r.Severity, fold(r.Text, 4, width),
			s.dim.text(fold(r.Source+"; judged "+r.Judged, 4, width)))
		if err != nil {
			return err
		}
	}
	return nil
}

// fold breaks a text into lines with an indent.
func fold(text string, indent, width int) string {
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	b.WriteString(pad)
	at := indent
	for i, word := range strings.Fields(text) {
		if i > 0 && at+1+len(word) > width {
			b.WriteString("\n" + pad)
			at = indent
		} else if i > 0 {
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
