package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
)

// mixed is a pcapng with an empty frame of each link type.
func mixed(t *testing.T, links ...dissect.LinkType) string {
	t.Helper()
	le := binary.LittleEndian
	block := func(b []byte, kind uint32, body []byte) []byte {
		b = le.AppendUint32(le.AppendUint32(b, kind), uint32(12+len(body)))
		return le.AppendUint32(append(b, body...), uint32(12+len(body)))
	}
	b := block(nil, 0x0a0d0d0a, []byte{0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255})
	for _, link := range links {
		b = block(b, 1, []byte{byte(link), byte(link >> 8), 0, 0, 0, 0, 0, 0})
	}
	for i := range links {
		b = block(b, 6, append([]byte{byte(i)}, make([]byte, 19)...))
	}
	path := filepath.Join(t.TempDir(), "x.pcapng")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := capture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	return path
}

// Frames that cannot be followed are not passed over in silence.
func TestStrangeLinkTypes(t *testing.T) {
	for _, c := range []struct {
		links []dissect.LinkType
		want  string // "" for nothing about link types
		exit  int
	}{
		{[]dissect.LinkType{1, 113, 1}, "", 0},
		{[]dissect.LinkType{1, 147, 1}, ": 1 frame of link type 147 was passed over\n", 0},
		{[]dissect.LinkType{147, 147, 1}, ": 2 frames of link type 147 were passed over\n", 0},
		{[]dissect.LinkType{147, 1, 148, 148}, ": 3 frames of link type 148 and others were passed over\n", 0},
		{[]dissect.LinkType{147, 147}, ": frames of link type 147 cannot be read\n", 1},
		{[]dissect.LinkType{147, 148}, ": frames of link type 148 and others cannot be read\n", 1},
	} {
		path := mixed(t, c.links...)
		for _, command := range []string{"read", "loss"} {
			_, errs, exit := execute(command, path)
			if exit != c.exit || !strings.Contains(errs, c.want) || c.want == "" && strings.Contains(errs, "link type") {
				t.Errorf("%s %v: exit status %d, %q", command, c.links, exit, errs)
			}
		}
	}
}
