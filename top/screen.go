package top

import "github.com/rdmadump/rdmadump/dissect"

// Query is what a view wants to see.
type Query struct {
	Order  Order
	Totals bool // sort by what came so far, not by rates
	Find   Find
	Open   uint32 // Key of the connection to be seen in detail, 0 for none
}

// maxRows is how many rows a Screen has at most: those that come first.
const maxRows = 1000

// Screen is all that is to be shown at a moment.
type Screen struct {
	At, Start   dissect.Time // now, and the first packet
	Connections int          // that are followed
	Matching    int          // of them, those that are looked for
	Rows        []Row        // of these, the first
	Query       Query        // that the rows answer
	Total       dissect.Totals
	Counts      dissect.Counts // of all connections, retired ones included
	Rates       Rates          // of all packets
	Drops       uint64         // frames that the capture lost
	Detail      *Detail        // nil where none was asked for, or it is gone
	Ended       bool           // no more packets come: Rates and Trouble are averages then
	Message     string         // why it ended, "" if that is no surprise
}

// Detail is one connection in full.
type Detail struct {
	Row
	Ways [2]Way
}

// Way is what one end of a connection sends.
type Way struct {
	Src, Dst dissect.Address
	dissect.Counts
	RTT  *dissect.Span // nil where it is not known
	Gaps []dissect.Gap // the newest first
}

// gapsOfDetail is how many gaps a Way has at most.
const gapsOfDetail = 20
