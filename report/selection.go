package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// Selected says in words what a selection takes:
//
//	queue pair 0x000222, host 192.0.2.1 or 192.0.2.2, from 2023-11-14 22:13:20.000000002 UTC
//
// It is empty for one that takes everything.
func Selected(s *dissect.Selection) string { return strings.Join(selected(s), ", ") }

func selected(s *dissect.Selection) []string {
	var facts []string
	if len(s.QPNs) > 0 {
		facts = append(facts, "queue pair "+either(s.QPNs))
	}
	if len(s.Hosts) > 0 {
		facts = append(facts, "host "+either(s.Hosts))
	}
	if s.Filter != "" {
		facts = append(facts, "filter "+Visible(s.Filter))
	}
	if s.From != nil {
		facts = append(facts, "from "+Moment(*s.From))
	}
	if s.To != nil {
		facts = append(facts, "before "+Moment(*s.To))
	}
	return facts
}

func either[T fmt.Stringer](all []T) string {
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = one.String()
	}
	return strings.Join(words, " or ")
}

// Moment writes a time with as many digits as it has.
func Moment(t dissect.Time) string {
	return time.Unix(0, int64(t)).UTC().Format("2006-01-02 15:04:05.999999999 UTC")
}
