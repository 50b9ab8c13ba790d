package filter_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/filter"
	"github.com/rdmadump/rdmadump/report"
)

// Every row of the field table is a field to ask for.
func TestFieldTable(t *testing.T) {
	for _, h := range codec.Headers() {
		for _, f := range h.Fields() {
			name := h.Key() + "." + f.Key
			if h == codec.HeaderImmDt {
				name = h.Key()
			} else if f.Reserved() {
				name = h.Key() + "." + strings.ToLower(f.Name)
			}
			want := name + " == 1"
			switch f.Base {
			case codec.GID:
				want = name + ` == "2001:db8::1"`
			case codec.Data:
				want = name + ` == "00"`
			}
			for _, expression := range []string{want, "has(" + name + ")", name + " != nil"} {
				if _, err := filter.Parse(expression); err != nil {
					t.Errorf("%s: %v", expression, err)
				}
			}
		}
		if h != codec.HeaderImmDt {
			if _, err := filter.Parse("has(" + h.Key() + ")"); err != nil {
				t.Error(err)
			}
		}
	}
}

// Of every packet of the cases, each key of the JSON output has in an expression
// the value that it has there; a comparison with another value does not hold, and
// what is not there holds neither way.
func TestAgainstJSON(t *testing.T) {
	names, err := filepath.Glob("../testdata/cases/*.pcap")
	if err != nil || len(names) < 50 {
		t.Fatalf("%d cases, %v", len(names), err)
	}
	filters := map[string]*filter.Filter{}
	met := map[string]bool{}
	for _, name := range names {
		r, err := capture.Open(name)
		if err != nil {
			continue // a case of what cannot be read
		}
		f, outer, p, l := dissect.Frame{}, dissect.Packet{}, report.Packet{}, dissect.Locator{}
		for n := 0; n < 40; n++ {
			if r.Next(&f) != nil {
				break
			}
			if o := l.Locate(&f, &outer); o != dissect.Found && o != dissect.Cut {
				continue
			}
			p.Decode(&f, &outer)
			values := flat(t, report.JSON{}.Append(nil, &p))
			for key, value := range values {
				met[key] = true
				expectMatch(t, filters, &outer, equals(key, value), name, f.Number)
			}
			for _, key := range filter.Fields() {
				if _, there := values[key]; there || values[key+"."] != nil {
					continue
				}
				if strings.Contains(key, "rsv") || strings.HasPrefix(key, "cnp") || strings.HasPrefix(key, "ip.") || strings.HasPrefix(key, "udp.") ||
					strings.HasPrefix(key, "lrh") || strings.HasPrefix(key, "grh") || key == "ip" || key == "udp" || key == "file" ||
					key == "bth.retx" || key == "bth.synchronise" {
					continue // of --json=full, or left out where it is 0
				}
				expectMatch(t, filters, &outer, fmt.Sprintf("not has(%s) and %s == nil", key, key), name, f.Number)
			}
		}
		r.Close()
	}
	for _, key := range []string{"frame", "time", "carrier", "tunnel", "src", "sgid", "sport", "opcode_name", "immdt", "payload_len", "icrc", "error",
		"reth.va", "aeth.syndrome", "deth.q_key", "tcaeth.seg1left", "tcaeth.length", "tcaeth.gaps", "tcaeth.error", "sacketh.sackpsn", "mpeth.aack", "req.localqpn", "req.remotegid"} {
		if !met[key] && key != "req.remotegid" {
			t.Errorf("no packet has %s, so that it was not tried", key)
		}
	}
}

func expectMatch(t *testing.T, filters map[string]*filter.Filter, p *dissect.Packet, expression, name string, frame int) {
	t.Helper()
	f := filters[expression]
	if f == nil {
		var err error
		if f, err = filter.Parse(expression); err != nil {
			t.Errorf("%s: %v", expression, err)
			return
		}
		if len(filters) < 1<<14 {
			filters[expression] = f
		}
	}
	if !f.Match(p) {
		t.Errorf("%s frame %d: %s does not hold", name, frame, expression)
	}
}

// equals says that a key has a value of JSON, and no other.
func equals(key string, value any) string {
	switch value := value.(type) {
	case json.Number:
		n, _ := strconv.ParseUint(value.String(), 10, 64)
		other := n ^ 1
		return fmt.Sprintf("%s == %d and %s != %d and not (%s == %d)", key, n, key, other, key, other)
	case []any:
		all := fmt.Sprintf("has(%s) and len(%s) == %d", key, key, len(value))
		for _, word := range value {
			all += fmt.Sprintf(" and %q in %s", word, key)
		}
		return all
	case string:
		if key == "time" { // to the nanosecond
			return fmt.Sprintf("time == %q", value)
		}
		return fmt.Sprintf("%s == %q", key, value)
	}
	return "has(" + key[:len(key)-1] + ")"
}

// flat is a JSON object with the objects in it laid out by path; a header itself
// stands there with a point behind it.
func flat(t *testing.T, line []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	out := map[string]any{}
	for key, value := range object {
		inner, ok := value.(map[string]any)
		if !ok {
			out[key] = value
			continue
		}
		out[key+"."] = inner
		for k, v := range inner {
			out[key+"."+k] = v
		}
	}
	return out
}
