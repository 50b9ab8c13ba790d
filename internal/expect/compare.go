package expect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Pair is the captures of two points and what must be said about them.
type Pair struct {
	Name          string
	First, Second string // paths of the captures
	Compare       Object
}

// LoadPair reads NAME.compare.json and finds the captures NAME-sender and
// NAME-receiver beside it.
func LoadPair(path string) (Pair, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Pair{}, err
	}
	var parts struct{ Compare Object }
	if err := json.Unmarshal(b, &parts); err != nil {
		return Pair{}, fmt.Errorf("%s: %w", path, err)
	}
	base := strings.TrimSuffix(path, ".compare.json")
	p := Pair{Name: filepath.Base(base), Compare: parts.Compare}
	for key, file := range map[string]*string{"first": &p.First, "second": &p.Second} {
		name, _ := parts.Compare[key].(string)
		*file = base + "-" + name
		if _, err := os.Stat(*file); err != nil {
			return Pair{}, err
		}
	}
	return p, nil
}

// CheckCompare compares the object that `compare --json` printed, nil if none
// was, and its exit status. It returns the first difference. The files may have
// been given in either order.
func (p *Pair) CheckCompare(out Object, exit int, stderr string) error {
	if err := checkExit(p.Compare, exit, stderr); err != nil {
		return err
	}
	if want, has := p.Compare["schema"]; has {
		have, ok := get(out, "schema")
		if err := compare(want, have, ok, "schema"); err != nil {
			return err
		}
	}
	streams := objects(out["streams"])
	for _, want := range objects(p.Compare["streams"]) {
		var found []Object
		for _, s := range streams {
			if !slices.ContainsFunc(identity, func(k string) bool { return want[k] != nil && want[k] != s[k] }) {
				found = append(found, s)
			}
		}
		if len(found) != 1 {
			return fmt.Errorf("%s is %d times in the output", name(want), len(found))
		}
		if err := compareHop(want, found[0]); err != nil {
			return err
		}
	}
	return nil
}

// compareHop compares one stream between two points.
func compareHop(want, s Object) error {
	for key, w := range want {
		where := name(want) + ": " + key
		have, ok := get(s, key)
		switch {
		case slices.Contains(identity, key):
		case key == "vanished":
			list, _ := w.([]any)
			if a, b := copiesIn(list), copiesIn(have); !slices.Equal(a, b) {
				return fmt.Errorf("%s is %v, expected %v", where, b, a)
			}
		case key == "upstream":
			file, _ := have.(string)
			if base := filepath.Base(file); !strings.HasSuffix(base, "-"+w.(string)) {
				return fmt.Errorf("%s is %s, expected %v", where, base, w)
			}
		default:
			if err := compare(w, have, ok, where); err != nil {
				return err
			}
		}
	}
	return nil
}

// copiesIn are the PSN and the transmission of each vanished copy, in order.
func copiesIn(list any) [][2]float64 {
	var all [][2]float64
	for _, o := range objects(list) {
		psn, _ := o["psn"].(float64)
		nth, _ := o["copy"].(float64)
		all = append(all, [2]float64{psn, nth})
	}
	slices.SortFunc(all, func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return all
}
