package filter

import (
	"github.com/expr-lang/expr/ast"

	"github.com/rdmadump/rdmadump/dissect"
)

// The questions that an expression is made of. Each says with ok whether the
// packet has what is asked for.
type (
	condition func(*view) bool
	number    func(*view) (n uint64, ok bool)
	text      func(*view) (s string, ok bool)
	address   func(*view) (a dissect.Address, ok bool)
	list      func(*view) []string // valid until the next question; nil if there is none
)

// kind is the type of a value.
type kind uint8

const (
	aNothing   kind = iota // nil
	aCondition             // true or false
	aNumber                // whole, not negative, up to 64 bits
	aDecimal               // a number with a fraction, a constant; only times have those
	aTime
	aText
	anAddress
	aList
	aHeader
)

var kindNames = [...]string{"nothing", "a condition", "a number", "a decimal", "a time", "a text", "an address", "a list", "a header"}

func (k kind) String() string { return kindNames[k] }

// value is a part of an expression.
type value struct {
	kind     kind
	node     ast.Node
	name     string // of the field, or what was written of a constant
	constant bool
	isPSN    bool // 24 bits that wrap
	quoted   bool // JSON has the number as a string
	bits     int  // width of a number, 0 for 64

	n uint64 // of a constant number
	s string // of a constant text

	has       condition // whether the packet has it, nil for what is no field
	there     condition // of "x in y": whether it has x, nil if that is no question
	condition condition
	number    number
	text      text
	address   address
	list      list
}

// mask is the largest number that the value can be.
func (v *value) mask() uint64 {
	if v.bits == 0 || v.bits >= 64 {
		return 1<<64 - 1
	}
	return 1<<v.bits - 1
}

// span is a range of numbers, both ends included. One of PSNs may wrap.
type span struct{ first, last uint64 }

func (s span) contains(n uint64) bool {
	if s.first > s.last {
		return n >= s.first || n <= s.last
	}
	return n >= s.first && n <= s.last
}
