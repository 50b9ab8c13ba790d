package dissect

import (
	"bufio"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
)

// vector is a line of testdata/frames.txt.
type vector struct {
	line  int
	frame Frame
	want  map[string]string // nil: not RDMA
	note  string
}

func readVectors(tb testing.TB) []vector {
	tb.Helper()
	file, err := os.Open("testdata/frames.txt")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var all []vector
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == "" || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		columns := strings.Split(lines.Text()+"\t", "\t")
		link, err1 := strconv.ParseUint(columns[0], 10, 16)
		wire, err2 := strconv.Atoi(columns[1])
		data, err3 := hex.DecodeString(columns[2])
		if err1 != nil || err2 != nil || err3 != nil {
			tb.Fatalf("line %d: %v %v %v", n, err1, err2, err3)
		}
		v := vector{line: n, note: columns[4], frame: Frame{Data: data, WireLen: wire, Time: int64(n) * 1000, Link: LinkType(link), Number: n}}
		if columns[3] != "-" {
			v.want = map[string]string{}
			for pair := range strings.FieldsSeq(columns[3]) {
				key, value, _ := strings.Cut(pair, "=")
				v.want[key] = value
			}
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil || len(all) == 0 {
		tb.Fatal("no vectors: ", err)
	}
	return all
}
