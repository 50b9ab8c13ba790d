package main

import (
	"fmt"
	"io"
	"os"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/dissect/twopoint"
	"github.com/rdmadump/rdmadump/internal/cli"
)

// align reads captures of several points ahead, where the selection asks for what
// only the whole of them tells: the other ends of queue pairs, and how the clocks
// differ. Its times are by the clock of the first capture; what comes back is which
// stretch of each capture they are, nil for all.
func (s *selection) align(std streams, names []string, config twopoint.Config) ([]twopoint.Window, error) {
	timed := s.from.Given() || s.to.Given()
	if !timed && len(s.QPNs) == 0 {
		return nil, nil
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if pipe := name == "-" || err == nil && !info.Mode().IsRegular(); pipe && timed {
			return nil, cli.UsageError{Err: fmt.Errorf("--from and --to go by the clocks of the captures, which are compared ahead: name a file in place of %s", name), Command: s.command}
		}
	}
	std.err = io.Discard // the next reading tells what is wrong
	config.MaxVanished = 1
	comparer := twopoint.NewComparer(config, names...)
	ends := make([]*dissect.Analyzer, len(names))
	span := spans{of: len(names)}
	taps := make([]*point, len(names))
	for i, source := range (pass{streams: std}).sources(names, nil) {
		info, err := os.Stat(names[i])
		if err != nil || names[i] == "-" || !info.Mode().IsRegular() {
			comparer.Close(i, "", 0, nil) // a pipe can be read once
			continue
		}
		t, err := openTap(source)
		if err != nil {
			comparer.Close(i, "", 0, nil)
			continue
		}
		defer t.reader.Close()
		taps[i] = t
		if len(s.QPNs) > 0 {
			ends[i] = dissect.NewAnalyzer(dissect.Config{Locator: config.Locator, MaxGaps: 1})
			ends[i].OpenCapture(names[i], "")
		}
	}
	if timed {
		for i := comparer.Next(); i >= 0; i = comparer.Next() {
			if err := taps[i].reader.Next(&taps[i].frame); err != nil {
				comparer.Close(i, "", 0, nil)
				continue
			}
			f := &taps[i].frame
			span.see(i, f.Time)
			s.learnFrom(ends[i], f)
			f.File = i
			comparer.Frame(f)
		}
	} else {
		for i, t := range taps {
			for t != nil && t.reader.Next(&t.frame) == nil {
				s.learnFrom(ends[i], &t.frame)
			}
		}
	}
	for _, a := range ends {
		if a != nil {
			s.Learn(a.Report())
		}
	}
	if !timed || span.of == len(names) {
		return nil, nil
	}
	s.last = span.last
	if err := s.begin(span.first); err != nil {
		return nil, err
	}
	return comparer.Comparison().Windows(span.of, s.From, s.To), nil
}

// learnFrom takes a frame of a capture that is read for its connections.
func (s *selection) learnFrom(a *dissect.Analyzer, f *dissect.Frame) {
	if a != nil {
		f.File = 0
		a.Frame(f)
	}
}

// spans is the time of the first frame, and of the last, of the first capture that
// has any.
type spans struct {
	of          int
	first, last int64
}

func (s *spans) see(i int, time int64) {
	switch {
	case i < s.of:
		s.of, s.first, s.last = i, time, time
	case i == s.of:
		s.last = max(s.last, time)
	}
}
