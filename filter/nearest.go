package filter

import "strings"

// nearest is the field or header that somebody may have meant, "" if none is
// close: one that ends in what was written, or one that takes few changes.
func nearest(name string) string {
	name = strings.ToLower(name)
	best, least := "", len(name)/3+2
	for _, known := range Fields() {
		header, field, dotted := strings.Cut(known, ".")
		if strings.HasPrefix(field, "rsv") {
			continue
		}
		cost := distance(name, known)
		if dotted && field == name { // without its header
			cost = 1
			if header == "bth" {
				cost = 0
			}
		}
		if cost < least {
			best, least = known, cost
		}
	}
	return best
}

// distance is how many characters are to be inserted, left out, replaced or
// swapped with their neighbour to get from one word to another.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for k := range above {
		above[k] = k
	}
	for i := range len(a) {
		row[0] = i + 1
		for k := range len(b) {
			cost := above[k]
			if a[i] != b[k] {
				cost++
			}
			row[k+1] = min(cost, above[k+1]+1, row[k]+1)
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				row[k+1] = min(row[k+1], before[k-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
