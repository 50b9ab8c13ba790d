package live

import (
	"cmp"
	"net"
	"slices"
	"strings"
)

// noInterface says that an interface is not there, and what is meant perhaps.
func noInterface(name string) *Error {
	e := &Error{Interface: name, Msg: ErrNoInterface.Error(), Err: ErrNoInterface}
	var names []string
	if all, err := net.Interfaces(); err == nil {
		for _, in := range all {
			names = append(names, in.Name)
		}
	}
	if near := nearest(name, append(names, Any)); len(near) > 0 {
		e.Hint = "there is " + strings.Join(near, ", ")
	}
	return e
}

// nearest is those of the names that differ least from one, the nearest first,
// five at most; all that are not too many if none is near.
func nearest(name string, names []string) []string {
	const most = 5
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(name, a), distance(name, b)), cmp.Compare(a, b))
	})
	near := 0
	for near < len(names) && distance(name, names[near]) <= max(2, len(name)/3) {
		near++
	}
	if near == 0 {
		near = len(names)
	}
	return names[:min(near, most)]
}

// distance is how many letters have to be put in, left out or changed to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
