package expect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rdmadump/rdmadump/psn"
)

// within checks a number, or a list of PSN ranges, against bounds.
func within(want Object, have any, ok bool, where string) error {
	wrong := fmt.Errorf("%s is %s, expected %s", where, show(have, ok), show(want, true))
	if listIn(want) {
		list, _ := have.([]any)
		seen, err := psns(list)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if least, has := want["min"].([]any); has {
			must, err := psns(least)
			if err != nil {
				return err
			}
			for p := range must {
				if !seen[p] {
					return wrong
				}
			}
		}
		if most, has := want["max"].([]any); has {
			may, err := psns(most)
			if err != nil {
				return err
			}
			for p := range seen {
				if !may[p] {
					return wrong
				}
			}
		}
		return nil
	}
	n, isNumber := have.(float64)
	if !isNumber {
		return wrong
	}
	if least, has := want["min"].(float64); has && n < least {
		return wrong
	}
	if most, has := want["max"].(float64); has && n > most {
		return wrong
	}
	return nil
}

func listIn(want Object) bool {
	_, least := want["min"].([]any)
	_, most := want["max"].([]any)
	return least || most
}

// psns spells a list of ranges out.
func psns(ranges []any) (map[psn.PSN]bool, error) {
	all := map[psn.PSN]bool{}
	for _, r := range ranges {
		text, isText := r.(string)
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.ParseUint(first, 10, 24)
		b, errB := strconv.ParseUint(last, 10, 24)
		if !isText || errA != nil || errB != nil {
			return nil, fmt.Errorf("%v is no PSN range", r)
		}
		span := psn.Range{First: psn.PSN(a), Last: psn.PSN(b)}
		for i := range span.Len() {
			all[span.First.Add(i)] = true
		}
	}
	return all, nil
}
