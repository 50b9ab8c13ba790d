package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/sim"
)

// progress shows how far a long run is, on a terminal.
type progress struct {
	w     io.Writer // nil where nobody watches
	total int64     // work requests of the run
	began time.Time
	last  time.Time
	shown bool
}

func newProgress(s streams, scenario *sim.Scenario) *progress {
	p := &progress{began: time.Now()}
	if _, tty := cli.Terminal(s.err); tty {
		p.w = s.err
	}
	for _, w := range scenario.Work {
		p.total += int64(w.Count) * int64(scenario.Pairs.Count)
	}
	return p
}

const (
	patience = time.Second            // what takes less needs no progress
	refresh  = 200 * time.Millisecond // between two lines
)

// show writes how far the run is, if it is time to.
func (p *progress) show(r *sim.Result) {
	if p.w == nil {
		return
	}
	now := time.Now()
	if now.Sub(p.began) < patience || now.Sub(p.last) < refresh {
		return
	}
	p.last, p.shown = now, true
	done := r.Posted - r.Unfinished()
	fmt.Fprintf(p.w, "\r\x1b[Krdmagen: %d %% of the work done, %.1f million packets, %v of the run",
		100*done/max(p.total, 1), float64(r.Packets)/1e6, r.Time.Round(time.Microsecond))
}

// clear takes the line away again.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
