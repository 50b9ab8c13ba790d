package capture

import (
	"cmp"
	"io"
	"math"
	"os"
	"slices"

	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/dissect"
)

// Source is a capture that is to be read.
type Source struct {
	Name   string
	Stream io.Reader // what to read; nil for the file called Name

	// Waiting, if not nil, is called by Next, and where the capture is opened,
	// each time before they wait for bytes of a pipe. What was made of the
	// frames so far should be shown then: nobody knows how long it takes.
	Waiting func()

	// Stop, once closed, ends reading with ErrStopped; also a wait for a pipe,
	// which is given a second to end by itself. nil: reading goes on to the end.
	Stop <-chan struct{}

	// Live, if not nil, is what to capture in place of reading a file. The end
	// of a live capture, by Stop too, is io.EOF.
	Live *live.Options
}

// Open opens the capture. The errors are those of Open and NewReader.
func (s Source) Open() (*Reader, error) {
	if s.Live != nil {
		return s.openLive()
	}
	if s.Stream != nil {
		return newReader(s.Stream, s, nil)
	}
	file, err := os.Open(s.Name)
	if err != nil {
		return nil, fileError(s.Name, err)
	}
	return newReader(file, s, file)
}

// Rotation opens the captures of one tap one after the other, in order of the
// time of their first frames, as a capture program writes them that begins a new
// file now and then.
type Rotation struct {
	waiting []Part
	faults  []error
}

// Part is one capture of a Rotation.
type Part struct {
	*Reader
	source Source
	first  *dissect.Frame // read ahead, nil if nothing was
	time   int64          // of the first frame, math.MaxInt64 without one
}

// NewRotation looks at the first frame of every source, if there are several.
// Files are closed again until their turn comes, so that their number does not
// matter. What is no regular file, such as a pipe, stays open, since it gives
// its bytes only once.
func NewRotation(sources []Source) *Rotation {
	r := &Rotation{}
	for _, s := range sources {
		p := Part{source: s}
		if len(sources) > 1 {
			if err := p.look(); err != nil {
				r.faults = append(r.faults, err)
				continue
			}
		}
		r.waiting = append(r.waiting, p)
	}
	slices.SortStableFunc(r.waiting, func(a, b Part) int { return cmp.Compare(a.time, b.time) })
	return r
}

// look reads the first frame. A fault behind the file header is left for Next
// to tell.
func (p *Part) look() error {
	reader, err := p.source.Open()
	if err != nil {
		return err
	}
	p.time = math.MaxInt64
	var f dissect.Frame
	if reader.Next(&f) == nil {
		p.time = f.Time
		f.Data = slices.Clone(f.Data)
		p.first = &f
	}
	if reader.file == nil || !regular(reader.file) {
		p.Reader = reader
		return nil
	}
	p.first = nil
	return reader.Close()
}

// Begins is the time of the first frame of the next capture, the largest there is
// where it has none, and 0 where it was not looked at. more is false when no
// capture is left.
func (r *Rotation) Begins() (time int64, more bool) {
	switch {
	case len(r.faults) > 0:
		return 0, true // which Open tells
	case len(r.waiting) > 0:
		return r.waiting[0].time, true
	}
	return 0, false
}

// Open opens the next capture. The error is io.EOF when there is none left, or
// the *Error of a capture that cannot be read; the next call goes on behind it.
// Parts may be open beside each other.
func (r *Rotation) Open() (*Part, error) {
	if len(r.faults) > 0 {
		err := r.faults[0]
		r.faults = r.faults[1:]
		return nil, err
	}
	if len(r.waiting) == 0 {
		return nil, io.EOF
	}
	p := r.waiting[0]
	r.waiting = r.waiting[1:]
	if p.Reader != nil {
		return &p, nil
	}
	reader, err := p.source.Open()
	if err != nil {
		return nil, err
	}
	p.Reader = reader
	return &p, nil
}

// Next is Reader.Next.
func (p *Part) Next(f *dissect.Frame) error {
	if p.first == nil {
		return p.Reader.Next(f)
	}
	file := f.File
	*f, p.first = *p.first, nil
	f.File = file
	return nil
}
