package main

import (
	"errors"
	"io"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
)

// Captures of one tap whose times overlap, as those of two ports of a host, or a
// file and its copy, are read abreast: their frames go by time. Of captures that
// follow each other one is open at a time.

// maxAbreast is how many captures are open at once; what is beyond waits.
const maxAbreast = 64

// lane is one of the captures that are read abreast.
type lane struct {
	i     int
	part  *capture.Part
	links linkTypes
	f     dissect.Frame // the next one
	time  int64         // of that, or of the one before where it has none
}

// readAbreast reads the captures of a rotation.
func (p pass) readAbreast(open func() (*capture.Part, error), begins func() (int64, bool)) error {
	var lanes []*lane
	defer func() {
		for _, l := range lanes {
			l.part.Close()
		}
	}()
	var failed error
	// advance has a lane read its next frame, and ends it behind the last one.
	advance := func(n int) error {
		l := lanes[n]
		fault := l.part.Next(&l.f)
		if fault == nil {
			if l.links.see(l.f.Link); l.f.Time != 0 {
				l.time = l.f.Time
			}
			return nil
		}
		lanes = append(lanes[:n], lanes[n+1:]...)
		defer l.part.Close()
		err := p.finish(l.i, l.part, &l.links, fault)
		if err == cli.ErrReported {
			failed, err = err, nil
		}
		return err
	}
	for count := 0; ; {
		n := earliest(lanes)
		if at, more := begins(); more && (n < 0 || at <= lanes[n].time && len(lanes) < maxAbreast) {
			part, err := open()
			switch {
			case err == io.EOF: // none of those left could be opened
			case errors.Is(err, capture.ErrStopped):
				return cli.ErrReported
			case err != nil:
				failed = cli.ErrReported
			default:
				p.open(part)
				lanes = append(lanes, &lane{i: count, part: part, f: dissect.Frame{File: count}, time: at})
				count++
				if err := advance(len(lanes) - 1); err != nil {
					return err
				}
			}
			continue
		}
		if n < 0 {
			return failed
		}
		switch err := p.frame(&lanes[n].f); err {
		case nil:
		case errStop:
			return failed
		default:
			return err
		}
		if err := advance(n); err != nil {
			return err
		}
	}
}

// earliest is the index of the lane whose frame comes next, -1 if there is none.
func earliest(lanes []*lane) int {
	best := -1
	for i, l := range lanes {
		if best < 0 || l.time < lanes[best].time {
			best = i
		}
	}
	return best
}
