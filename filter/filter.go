package filter

import (
	"slices"

	"github.com/rdmadump/rdmadump/dissect"
)

// MaxLength is how many bytes an expression may have. It bounds how deep one can
// be nested and how long a packet can take.
const MaxLength = 4096

// Filter is an expression, ready to be asked about packets. It is not safe for
// concurrent use.
type Filter struct {
	text    string
	matches condition
	moments []*moment
	begun   bool
	view    view
}

// Parse reads an expression and checks the types of what it compares. Errors are
// *Error.
func Parse(text string) (*Filter, error) {
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := compiler{tree: tree}
	matches, err := c.condition(tree.root)
	if err != nil {
		return nil, err
	}
	return &Filter{text: text, matches: matches, moments: c.moments}, nil
}

// String is the expression.
func (f *Filter) String() string { return f.text }

// Begin settles the times that the expression names, which may count from the
// first frame or the last one (see dissect.ParseMoment): both in nanoseconds since
// 1970. Without it they count from the first packet that is asked about.
func (f *Filter) Begin(first, last int64) {
	f.begun = true
	for _, m := range f.moments {
		m.at = int64(m.named.At(first, last))
	}
}

// Timed reports whether the expression names points in time.
func (f *Filter) Timed() bool { return len(f.moments) > 0 }

// FromLast reports whether one of them counts from the last frame, so that Begin
// must be told when that was.
func (f *Filter) FromLast() bool {
	return slices.ContainsFunc(f.moments, func(m *moment) bool { return m.named.FromLast() })
}

// Match reports whether the expression holds for a packet that was located.
func (f *Filter) Match(p *dissect.Packet) bool {
	if !f.begun {
		f.Begin(p.Time, p.Time)
	}
	f.view.take(p)
	return f.matches(&f.view)
}

// moment is a point in time that an expression names.
type moment struct {
	named dissect.Moment
	at    int64
}
