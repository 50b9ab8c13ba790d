package dissect

// Frame is one captured frame and nothing of where it came from: bytes, a
// length and a time. A reader fills the same Frame again and again; Data is
// borrowed and valid until the reader is asked for the next one.
type Frame struct {
	Data      []byte   // captured bytes, from the link header on
	WireLen   int      // bytes the frame had on the wire, never less than len(Data)
	Time      int64    // nanoseconds since 1970-01-01 UTC
	Link      LinkType // what Data begins with
	Number    int      // position in its capture, counted from 1 over all frames
	File      int      // index of the capture among those read together
	Interface int      // index of the capturing interface, counted over the capture's sections
}
