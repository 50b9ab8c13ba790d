package craft

import (
	"slices"
	"strings"

	"github.com/rdmadump/rdmadump/codec"
)

// single are the keys that are no objects. Some of them tell what others say, and
// are passed over: frame, file, tunnel, and of a complete line payload_len.
var single = []string{"frame", "file", "time", "carrier", "tunnel", "src", "dst", "sgid", "dgid", "sport",
	"link", "caplen", "wirelen", "encap", "opcode_name", "immdt", "payload_len", "payload", "pad", "icrc", "icrc_bytes", "trailer", "error"}

// keys are the keys that are objects, with theirs.
var keys = func() map[string][]string {
	all := map[string][]string{
		"eth": {"dst", "src", "type"},
		"ip": {"version", "hdr_len", "dsfield", "len", "id", "flags", "frag_offset", "ttl", "proto", "checksum", "src", "dst", "options",
			"tclass", "flow", "plen", "nxt", "hlim", "extensions"},
		"udp": {"srcport", "dstport", "length", "checksum"},
	}
	for _, h := range codec.Headers() {
		if h == codec.HeaderImmDt {
			continue // a plain number
		}
		for _, f := range h.Fields() {
			all[h.Key()] = append(all[h.Key()], fieldKey(f))
		}
	}
	all["tcaeth"] = append(all["tcaeth"], "length", "gaps", "error")
	return all
}()

var tagKeys = []string{"tpid", "pcp", "dei", "id"}

// Keys are the keys of a line.
func Keys() []string {
	all := append(slices.Clone(single), "vlan")
	for key := range keys {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// Fields are the keys of an object: "bth" has "opcode", "se" and so on. It is
// nil for what is none.
func Fields(key string) []string { return slices.Clone(keys[key]) }

// fieldKey is the key of a field; a reserved one goes by its name.
func fieldKey(f codec.Field) string {
	if f.Reserved() {
		return strings.ToLower(f.Name)
	}
	return f.Key
}
