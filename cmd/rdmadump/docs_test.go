package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/dissect/twopoint"
)

// What programs may rely on is docs/output.md: every key that is printed stands in
// the section of its command, and no section names a key that is not printed.
func TestEveryKeyIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	loss := typeKeys(reflect.TypeFor[dissect.Report]())
	packets, fields := readKeys(t)
	for command, keys := range map[string]map[string]bool{
		"read --json":    packets,
		"loss --json":    loss,
		"compare --json": typeKeys(reflect.TypeFor[twopoint.Comparison]()),
		"loss --events":  typeKeys(reflect.TypeFor[dissect.Event]()),
	} {
		section := sectionOf(t, string(page), "## `rdmadump "+command+"`")
		named := map[string]bool{}
		for _, m := range codeWord.FindAllStringSubmatch(section, -1) {
			named[m[1]] = true
		}
		for key := range keys {
			// A record of another section is described there.
			if !named[key] && (command != "compare --json" && command != "loss --events" || !loss[key]) {
				t.Errorf("%s: %s is printed and not documented", command, key)
			}
		}
		for word := range named {
			if !keys[word] && !(command == "read --json" && fields[word]) && !slices.Contains(strings.Fields(values[command]), word) {
				t.Errorf("%s: %s is documented and not printed", command, word)
			}
		}
	}
}

// codeWord is what may be a key: `psn`, `bth.psn`, and not `--json` or `tc-aeth`.
var codeWord = regexp.MustCompile("`(?:[a-z]+\\.)?([a-z][a-z0-9_]*)`")

// values are words of a section that are no keys: values, commands, and keys of
// another section that it refers to.
var values = map[string]string{
	"read --json":    "extensions rocev2 rocev1 ib vxlan geneve gre erspan1 erspan2 erspan3 mpls ipip good bad absent",
	"loss --events":  "retransmission nak timeout finding disconnect evicted joined open",
	"compare --json": "request cnp datagram none offset marks loss ce ect0 ect1",
	"loss --json": "compare pcap pcapng cm user none request nak rnr timeout early needed redundant wasted unknown " +
		"observed retx icrc upstream downstream capture open " +
		"packet_seq_err out_of_sequence duplicate_request implied_nak_seq_err rnr_nak_retry_err local_ack_timeout_err " +
		"roce_adp_retrans roce_slow_restart rx_icrc_encapsulated req_remote_access_errors req_remote_invalid_request hw_counters",
}

func sectionOf(t *testing.T, page, title string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, title+"\n")
	if !ok {
		t.Fatalf("no %s", title)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	return section
}

// typeKeys are the keys that a value of a type may be written with.
func typeKeys(of reflect.Type) map[string]bool {
	keys := map[string]bool{}
	addTypeKeys(keys, of)
	return keys
}

func addTypeKeys(keys map[string]bool, of reflect.Type) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		addTypeKeys(keys, of.Elem())
	case reflect.Struct:
		if of.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()) {
			return
		}
		for field := range of.NumField() {
			f := of.Field(field)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" && f.IsExported() {
				keys[name] = true
			}
			if f.IsExported() {
				addTypeKeys(keys, f.Type)
			}
		}
	}
}

// readKeys are the keys of packets of the captures that the project ships, and those
// within the objects of headers, which docs/fields.md has: it is made from the table
// that they are printed from.
func readKeys(t *testing.T) (keys, fields map[string]bool) {
	t.Helper()
	keys, fields = map[string]bool{}, map[string]bool{}
	headers := map[string]bool{}
	for _, h := range codec.Headers() {
		headers[h.Key()], keys[h.Key()] = true, true // some no shipped capture has
	}
	files, _ := filepath.Glob("../../testdata/cases/*.pcap*")
	files = append(files, "testdata/management.pcap", "../../testdata/pcaps/rxe-wrap_send_v6_clean-receiver.pcap.gz")
	lines := ""
	for _, file := range files {
		for _, form := range []string{"--json", "--json=full"} {
			out, _, _ := execute("read", form, file)
			lines += out
		}
	}
	out, _, _ := execute("read", "--json", files[0], files[1])
	for line := range strings.Lines(lines + out) {
		var o map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		for key, value := range o {
			keys[key] = true
			if headers[key] {
				addKeys(fields, value)
			} else {
				addKeys(keys, value)
			}
		}
	}
	return keys, fields
}

// addKeys adds the keys of the objects in a value.
func addKeys(keys map[string]bool, value json.RawMessage) {
	var o map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case json.Unmarshal(value, &o) == nil:
		for key, v := range o {
			keys[key] = true
			addKeys(keys, v)
		}
	case json.Unmarshal(value, &list) == nil:
		for _, v := range list {
			addKeys(keys, v)
		}
	}
}
