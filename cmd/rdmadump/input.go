package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
)

// pass is one pass over the captures of a command line.
type pass struct {
	streams
	viewed  bool                                               // a view shows it, and ends with its terminal
	abreast bool                                               // captures whose times overlap are read by time, not one after the other
	live    *live.Options                                      // what to capture in place of reading files, if not nil
	open    func(part *capture.Part)                           // before the first frame of a capture
	broken  <-chan struct{}                                    // ends a live capture as an interrupt does, if not nil
	frame   func(f *dissect.Frame) error                       // for every frame; errStop ends the pass
	waiting func()                                             // before waiting for bytes of a pipe, if not nil
	unread  func(name string, err error)                       // for each capture that could not be opened, behind all others; not if nil
	close   func(i int, part *capture.Part, fault error) error // behind its last frame
}

// errStop ends a pass before its end.
var errStop = errors.New("stop")

// run reads the captures in order of time. What is wrong with one of them is
// reported, and what can be read is read all the same; the error is cli.ErrReported
// then, or what frame returned. An interrupt ends reading where it is.
func (p pass) run(names []string) error {
	var unread []*capture.Error
	err := p.readAll(names, &unread)
	for _, e := range unread {
		if p.unread != nil {
			p.unread(e.File, e)
		}
	}
	return err
}

// readAll is run, and collects the captures that could not be opened.
func (p pass) readAll(names []string, unread *[]*capture.Error) error {
	signals := cli.EndSignals()
	if p.viewed {
		signals = slices.DeleteFunc(signals, func(s os.Signal) bool { return s == syscall.SIGHUP })
	}
	interrupted, restore := signal.NotifyContext(context.Background(), signals...)
	defer restore()
	context.AfterFunc(interrupted, restore) // a second one ends the program at once
	if p.broken != nil {
		go func() {
			select {
			case <-p.broken:
				restore()
			case <-interrupted.Done():
			}
		}()
	}
	rotation := capture.NewRotation(p.sources(names, interrupted.Done()))
	open := func() (*capture.Part, error) {
		part, err := rotation.Open()
		if err != nil && err != io.EOF {
			p.complain(err)
			if e := (*capture.Error)(nil); errors.As(err, &e) {
				*unread = append(*unread, e)
			}
		}
		return part, err
	}
	if p.abreast && len(names) > 1 {
		return p.readAbreast(open, rotation.Begins)
	}
	var failed error
	for i := 0; ; i++ {
		part, err := open()
		for err != nil && err != io.EOF {
			failed = cli.ErrReported
			if errors.Is(err, capture.ErrStopped) {
				return failed
			}
			part, err = open()
		}
		if err == io.EOF {
			return failed
		}
		switch err := p.read(i, part); err {
		case nil:
		case cli.ErrReported:
			failed = err
		case errStop:
			return failed
		default:
			return err
		}
		if failed != nil && interrupted.Err() != nil {
			return failed // the captures left would say no more
		}
	}
}

func (p pass) sources(names []string, stop <-chan struct{}) []capture.Source {
	if p.live != nil {
		return []capture.Source{{Live: p.live, Waiting: p.waiting, Stop: stop}}
	}
	sources := make([]capture.Source, len(names))
	for i, name := range names {
		sources[i] = capture.Source{Name: name, Waiting: p.waiting, Stop: stop}
		if name == "-" {
			sources[i].Name, sources[i].Stream = "standard input", p.in
		}
	}
	return sources
}

// stat describes the input called name, - for standard input.
func (s streams) stat(name string) (os.FileInfo, error) {
	if file, ok := s.in.(*os.File); name == "-" && ok {
		return file.Stat()
	}
	return os.Stat(name)
}

// same is the index of the first input that is the file, -1 if none is.
func (s streams) same(file os.FileInfo, names []string) int {
	return slices.IndexFunc(names, func(name string) bool {
		in, err := s.stat(name)
		return err == nil && os.SameFile(in, file)
	})
}

// apart makes sure that standard output is none of the inputs: what is printed
// would be appended to what is read.
func (s streams) apart(names []string) error {
	file, ok := s.out.(*os.File)
	if !ok {
		return nil
	}
	out, err := file.Stat()
	if err != nil || !out.Mode().IsRegular() {
		return nil
	}
	if i := s.same(out, names); i >= 0 {
		return fmt.Errorf("standard output is the input %s: name another file", names[i])
	}
	return nil
}

// read reads the i-th capture.
func (p pass) read(i int, part *capture.Part) error {
	defer part.Close()
	p.open(part)
	if p.live != nil {
		p.announce(p.live)
	}
	f := dissect.Frame{File: i}
	links := linkTypes{}
	fault := part.Next(&f)
	for ; fault == nil; fault = part.Next(&f) {
		links.see(f.Link)
		if err := p.frame(&f); err != nil {
			return err
		}
	}
	return p.finish(i, part, &links, fault)
}

// finish ends the i-th capture, of which fault is why reading it ended.
func (p pass) finish(i int, part *capture.Part, links *linkTypes, fault error) error {
	if fault == io.EOF {
		fault = links.fault(part.Info().Name)
	}
	if err := p.close(i, part, fault); err != nil {
		return err
	}
	if note := links.passedOver(part.Info().Name); note != nil {
		p.complain(note)
	}
	if fault != nil {
		p.complain(fault)
		return cli.ErrReported
	}
	return nil
}

// linkTypes counts the frames that Locate cannot follow because of their link
// type: silence would look like a capture without RDMA.
type linkTypes struct {
	frames  int
	strange int              // of them, those of a type that is not known
	one     dissect.LinkType // of those
	several bool             // they are of other types too

	last  dissect.LinkType
	known bool // last is
}

// see takes note of a frame's link type.
func (l *linkTypes) see(t dissect.LinkType) {
	if l.frames == 0 || t != l.last {
		l.last, l.known = t, t.Known()
	}
	l.frames++
	if l.known {
		return
	}
	l.several = l.several || l.strange > 0 && t != l.one
	l.one = t
	l.strange++
}

// fault is an error when no frame at all can be followed.
func (l *linkTypes) fault(name string) error {
	if l.strange == 0 || l.strange < l.frames {
		return nil
	}
	return fmt.Errorf("%s: frames of %s cannot be read", name, l.types())
}

// passedOver says that some frames cannot be followed, nil if all can or none.
func (l *linkTypes) passedOver(name string) error {
	switch {
	case l.strange == 0 || l.strange == l.frames:
		return nil
	case l.strange == 1:
		return fmt.Errorf("%s: 1 frame of %s was passed over", name, l.types())
	}
	return fmt.Errorf("%s: %d frames of %s were passed over", name, l.strange, l.types())
}

func (l *linkTypes) types() string {
	if l.several {
		return l.one.String() + " and others"
	}
	return l.one.String()
}
