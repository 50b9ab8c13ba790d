// Package expect compares what rdmadump says with what a case expects. It is
// for tests only.
//
// An expectation is a subset: what it does not name may be anything. Dotted
// keys reach into nested objects. A plain value must be equal; "" and [] also
// match a key that is left out; null means that the key must not be there;
// "<any>" that it must be there and not empty; {"one_of":[...]} one of these;
// {"min":a,"max":b} bounds, of a number or of a list of PSN ranges.
package expect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Object is a JSON object.
type Object = map[string]any

// Case is one capture and what must be said about it.
type Case struct {
	Name string
	File string // path of the capture
	Read Object // nil when nothing is expected of read
	Loss Object // nil when nothing is expected of loss
}

// Load reads NAME.expect.json and finds the capture beside it.
func Load(path string) (Case, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Case{}, err
	}
	base := strings.TrimSuffix(path, ".expect.json")
	files, err := filepath.Glob(base + ".pcap*")
	if err != nil || len(files) != 1 {
		return Case{}, fmt.Errorf("%s: %d captures beside it, expected one", path, len(files))
	}
	c := Case{Name: filepath.Base(base), File: files[0]}
	var parts struct{ Read, Loss Object }
	if err := json.Unmarshal(b, &parts); err != nil {
		return Case{}, fmt.Errorf("%s: %w", path, err)
	}
	c.Read, c.Loss = parts.Read, parts.Loss
	return c, nil
}

// get is what a dotted key reaches; ok is false where there is nothing or null.
func get(o any, key string) (v any, ok bool) {
	v = o
	for part := range strings.SplitSeq(key, ".") {
		m, isObject := v.(Object)
		if !isObject {
			return nil, false
		}
		if v, ok = m[part]; !ok || v == nil {
			return nil, false
		}
	}
	return v, true
}

// compare returns an error when have (there if ok) is not as want says.
func compare(want, have any, ok bool, where string) error {
	wrong := func() error {
		return fmt.Errorf("%s is %s, expected %s", where, show(have, ok), show(want, true))
	}
	good := false
	switch w := want.(type) {
	case nil:
		good = !ok
	case string:
		good = w == "" && !ok || w == "<any>" && ok && !isEmpty(have) || reflect.DeepEqual(want, have)
	case Object:
		return compareObject(w, have, ok, where)
	case []any:
		return compareList(w, have, ok, where)
	default:
		good = reflect.DeepEqual(want, have) || !ok && want == float64(0) && mayBeAbsent(where)
	}
	if !good {
		return wrong()
	}
	return nil
}

// mayBeAbsent names the counts that may be left out where they are zero.
func mayBeAbsent(where string) bool {
	return strings.Contains(where, ".by_cause.") || strings.Contains(where, ".by_verdict.") || strings.HasSuffix(where, "undecided")
}

func compareObject(want Object, have any, ok bool, where string) error {
	if choices, isChoice := want["one_of"].([]any); isChoice {
		for _, w := range choices {
			if w == nil && !ok || w != nil && ok && reflect.DeepEqual(w, have) {
				return nil
			}
		}
		return fmt.Errorf("%s is %s, expected one of %s", where, show(have, ok), show(choices, true))
	}
	_, hasMin := want["min"]
	_, hasMax := want["max"]
	if hasMin || hasMax {
		return within(want, have, ok, where)
	}
	if _, isObject := have.(Object); !isObject {
		return fmt.Errorf("%s is %s, expected an object", where, show(have, ok))
	}
	for key, w := range want {
		v, there := get(have, key)
		if err := compare(w, v, there, where+"."+key); err != nil {
			return err
		}
	}
	return nil
}

// compareList compares lists: of findings, each word must be in one; of
// objects, each must be matched by one of its own; else they must be equal.
func compareList(want []any, have any, ok bool, where string) error {
	list, _ := have.([]any)
	switch {
	case len(want) == 0:
		if len(list) > 0 {
			return fmt.Errorf("%s is %s, expected it to be empty", where, show(have, ok))
		}
		return nil
	case strings.HasSuffix(where, "findings"):
		for _, word := range want {
			if !hasFinding(list, word.(string)) {
				return fmt.Errorf("%s is %s, expected %v among them", where, show(have, ok), word)
			}
		}
		return nil
	}
	if _, ofObjects := want[0].(Object); !ofObjects {
		if !reflect.DeepEqual(any(want), have) {
			return fmt.Errorf("%s is %s, expected %s", where, show(have, ok), show(want, true))
		}
		return nil
	}
	left := append([]any(nil), list...)
	for _, w := range want {
		found := -1
		for i, h := range left {
			if compare(w, h, true, where) == nil {
				found = i
				break
			}
		}
		if found < 0 {
			return fmt.Errorf("%s: none like %s, but %s", where, show(w, true), show(have, ok))
		}
		left = append(left[:found], left[found+1:]...)
	}
	return nil
}

// hasFinding reports whether a word stands in some text of some finding.
func hasFinding(findings []any, word string) bool {
	for _, f := range findings {
		o, _ := f.(Object)
		for _, text := range o {
			if s, isText := text.(string); isText && strings.Contains(s, word) {
				return true
			}
		}
	}
	return false
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case Object:
		return len(v) == 0
	}
	return false
}

func show(v any, ok bool) string {
	if !ok {
		return "nothing"
	}
	b, _ := json.Marshal(v)
	if len(b) > 200 {
		b = append(b[:200], "..."...)
	}
	return string(b)
}
