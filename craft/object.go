package craft

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Object is what is said of one frame: strings, numbers (json.Number), lists and
// objects by key, as JSON has them.
type Object map[string]any

// Parse reads a JSON object. Keys that mean nothing are an error. The error is a
// *Fault.
func Parse(line []byte) (Object, error) {
	var o Object
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	err := d.Decode(&o)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more follows the object")
		}
	}
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return nil, fault("", "want a JSON object, not %s", article(kind.Value))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fault("", "the JSON object does not end in this line")
	case err != nil:
		return nil, fault("", "no JSON object: %v", err)
	case o == nil:
		return nil, fault("", "want a JSON object, not null")
	}
	return o, o.check()
}

func article(kind string) string {
	if strings.IndexAny(kind, "aeiou") == 0 {
		return "an " + kind
	}
	return "a " + kind
}

// Set sets a key such as "bth.psn" to what a text says.
func (o Object) Set(key, text string) error {
	outer, inner, nested := strings.Cut(key, ".")
	if !nested {
		o[key] = text
		return o.check()
	}
	in, ok := o[outer].(map[string]any)
	if !ok {
		in = map[string]any{}
		o[outer] = in
	}
	in[inner] = text
	return o.check()
}

// Drop takes a key away, so that it is completed.
func (o Object) Drop(key string) {
	outer, inner, nested := strings.Cut(key, ".")
	if in, ok := o[outer].(map[string]any); ok && nested {
		delete(in, inner)
		return
	}
	delete(o, key)
}

// get is the value of a key, nil where it is not there.
func (o Object) get(key string) any {
	outer, inner, nested := strings.Cut(key, ".")
	if !nested {
		return o[key]
	}
	in, _ := o[outer].(map[string]any)
	return in[inner]
}

func (o Object) has(key string) bool { return o.get(key) != nil }

// check finds keys that mean nothing; of several the first in the alphabet.
func (o Object) check() (first error) {
	at := ""
	for key := range o {
		if first != nil && key > at {
			continue
		}
		if err := o.checkKey(key); err != nil {
			first, at = err, key
		}
	}
	return first
}

func (o Object) checkKey(key string) error {
	fields, isHeader := keys[key]
	switch {
	case !isHeader && !slices.Contains(single, key) && key != "vlan":
		return fault(key, "no such key; there are %s", strings.Join(Keys(), ", "))
	case !isHeader:
		return nil
	}
	in, ok := o[key].(map[string]any)
	if !ok {
		return fault(key, "want an object of %s", strings.Join(fields, ", "))
	}
	return strange(key, in, fields)
}

// strange finds a key of an object that is not among its fields.
func strange(key string, in map[string]any, fields []string) error {
	for name := range in {
		if !slices.Contains(fields, name) {
			for _, name := range sorted(in) {
				if !slices.Contains(fields, name) {
					return fault(key+"."+name, "no such key; there are %s", strings.Join(fields, ", "))
				}
			}
		}
	}
	return nil
}

func sorted(m map[string]any) (all []string) {
	for key := range m {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// text is a string.
func (o Object) text(key, otherwise string) (string, error) {
	switch v := o.get(key).(type) {
	case nil:
		return otherwise, nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	return "", fault(key, "want a string")
}

// shown is a value as messages quote it.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
