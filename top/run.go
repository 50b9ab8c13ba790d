package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Show is a view on a terminal.
type Show struct {
	Sampler *Sampler
	Pace    *Pace // of a replay, nil for what runs
	Title   string
	Query   Query
	Colored bool
	ASCII   bool
}

// patience is how long the reader has to end once the view is closed.
const patience = 2 * time.Second

// Run shows what the Sampler sees on the terminal until the user quits, a signal
// ends it, or writing fails, which is the error. Meanwhile read runs in a goroutine
// of its own; it should end soon once quit, which Run closes, is closed. The
// terminal is left as it was found, also where read or the view panics. Keys are
// read from standard input, or from the terminal itself where that is something
// else.
func (s *Show) Run(terminal *os.File, quit chan struct{}, read func()) error {
	dead, end := context.WithCancel(context.Background())
	defer end()
	out := &watched{File: terminal, broken: end}
	queries, screens := make(chan Query, 1), make(chan *Screen, 1)
	model := &Model{Title: s.Title, Colored: s.Colored, ASCII: s.ASCII, Replay: s.Pace != nil, query: s.Query,
		ask: func(q Query) {
			select {
			case <-queries: // nobody has looked at it yet
			default:
			}
			queries <- q
		},
		hold: func(on bool) {
			if s.Pace != nil {
				s.Pace.Pause(on)
			}
		},
		listen: func() tea.Msg { return screenMsg{<-screens} },
	}
	model.ask(s.Query)
	options := []tea.ProgramOption{tea.WithOutput(out), tea.WithContext(dead)}
	if s.Colored { // that was decided already
		options = append(options, tea.WithEnvironment(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "NO_COLOR=") })))
	}
	program := tea.NewProgram(model, options...)

	var ended sync.WaitGroup
	faults := make(chan string, 2)
	begin := func(f func()) {
		ended.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					faults <- fmt.Sprintf("%v\n\n%s", v, debug.Stack())
					program.Quit()
				}
			}()
			f()
		})
	}
	begin(read)
	begin(func() { s.Sampler.serve(queries, screens, quit) })
	_, err := program.Run()
	close(quit)
	gone := make(chan struct{})
	go func() { ended.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(patience):
	}
	select {
	case fault := <-faults:
		panic(fault) // now that the terminal shows it
	default:
	}
	switch {
	case out.fault() != nil:
		return out.fault()
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return err
}

// watched is a terminal that tells when it can no longer be written to.
type watched struct {
	*os.File
	broken func()
	mutex  sync.Mutex
	err    error
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.File.Write(b)
	if err != nil {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		if w.err == nil {
			w.err = err
			w.broken()
		}
	}
	return n, err
}

// WriteString writes text.
func (w *watched) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// ReadFrom writes what r gives.
func (w *watched) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{w}, r) }

func (w *watched) fault() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.err
}

// Write writes the table once, all rows of the screen.
func (s *Show) Write(w io.Writer, width int) error {
	query := s.Query
	query.Totals = true
	m := &Model{Title: s.Title, Colored: s.Colored, ASCII: s.ASCII, query: query, width: width, height: maxRows + frameLines, at: -1}
	m.screen = s.Sampler.Screen(&query)
	lines := append(m.head(), m.list()...)
	for _, l := range lines {
		if _, err := io.WriteString(w, strings.TrimRight(l.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	if left := m.screen.Matching - len(m.screen.Rows); left > 0 {
		if _, err := fmt.Fprintf(w, " and %s more\n", commas(int64(left))); err != nil {
			return err
		}
	}
	return nil
}
