package codec

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// vector is one line of testdata: bytes, how many more were on the wire, and
// the words that describe what they decode to.
type vector struct {
	at    string // file and line
	raw   []byte
	wire  int
	words []string
}

func vectors(t testing.TB, file string) []vector {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []vector
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		at := fmt.Sprintf("%s:%d", file, n)
		digits, text, ok := strings.Cut(line, "\t")
		digits, more, _ := strings.Cut(digits, "+")
		raw, err := hex.DecodeString(digits)
		if err != nil || !ok {
			t.Fatalf("%s: no vector: %v", at, err)
		}
		cut, _ := strconv.Atoi(more)
		// An error is the last and has blanks in it.
		text, fault, failed := strings.Cut(text, "error=")
		words := strings.Fields(text)
		if failed {
			words = append(words, "error="+fault)
		}
		all = append(all, vector{at, raw, len(raw) + cut, words})
	}
	if err := lines.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%s: %d vectors, %v", file, len(all), err)
	}
	return all
}

// headerWords describes the headers of a set by their struct's fields, numbers
// in decimal, and a header without a value by its key.
func headerWords(set HeaderSet, of func(Header) any) []string {
	var words []string
	for ; set != 0; set &= set - 1 {
		h := set.first()
		fields := leaves(reflect.ValueOf(of(h)).Elem(), "", map[string]reflect.Value{})
		bare := true
		for _, f := range h.Fields() {
			if f.Reserved() {
				continue
			}
			bare = false
			n, content := number(fields[f.Name])
			word := fmt.Sprintf("%s.%s=%d", h.Key(), f.Key, n)
			if content != nil {
				word = fmt.Sprintf("%s.%s=%x", h.Key(), f.Key, content)
			}
			words = append(words, word)
		}
		if bare {
			words = append(words, h.Key())
		}
	}
	return words
}

// structOf is the packet's struct of a header.
func (p *Packet) structOf(h Header) any {
	return reflect.ValueOf(p).Elem().FieldByName(reflect.TypeOf(structs[h]()).Elem().Name()).Addr().Interface()
}

func packetWords(p *Packet, err error) []string {
	words := headerWords(p.Headers, p.structOf)
	icrc := "-"
	if p.ICRC != nil {
		icrc = hex.EncodeToString(p.ICRC)
	}
	words = append(words, fmt.Sprintf("payload_len=%d", p.PayloadLen), fmt.Sprintf("pad=%d", len(p.Pad)), "icrc="+icrc)
	if err != nil {
		words = append(words, "error="+err.Error())
	}
	return words
}

// plain writes 0x numbers in decimal, so that words compare as text.
func plain(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if key, v, ok := strings.Cut(w, "="); ok && strings.HasPrefix(v, "0x") {
			if n, err := strconv.ParseUint(v, 0, 64); err == nil {
				out[i] = fmt.Sprintf("%s=%d", key, n)
			}
		}
	}
	return out
}

func TestPacketVectors(t *testing.T) {
	for _, file := range []string{"packets.txt", "errors.txt"} {
		var p Packet // dirty from the vector before
		for _, v := range vectors(t, file) {
			err := p.Decode(v.raw, v.wire)
			got, want := strings.Join(packetWords(&p, err), " "), strings.Join(plain(v.words), " ")
			if got != want {
				t.Errorf("%s: decodes to\n%s\nwant\n%s", v.at, got, want)
			}
			if out, err := p.AppendBinary(nil); err != nil || !bytes.Equal(out, v.raw) {
				t.Errorf("%s: encodes to %x, %v", v.at, out, err)
			}
		}
	}
}

// However short a packet is on the wire, or however early the capture cut it,
// it decodes or says what is missing, and nothing gets lost.
func TestEveryPrefixOfEveryVector(t *testing.T) {
	for _, file := range []string{"packets.txt", "errors.txt"} {
		for _, v := range vectors(t, file) {
			var whole Packet
			wholeErr := whole.Decode(v.raw, v.wire)
			for n := range len(v.raw) + 1 {
				for _, wire := range []int{n, v.wire, v.wire + 1} {
					var p Packet
					err := p.Decode(v.raw[:n:n], wire)
					if err != nil && !isOurs(err) {
						t.Fatalf("%s: %d bytes of %d: %v", v.at, n, wire, err)
					}
					if out, err := p.AppendBinary(nil); err != nil || !bytes.Equal(out, v.raw[:min(n, wire)]) {
						t.Fatalf("%s: %d bytes of %d encode to %x, %v", v.at, n, wire, out, err)
					}
					if p.PayloadLen < len(p.Payload) || p.PayloadLen > wire {
						t.Fatalf("%s: %d bytes of %d: payload of %d bytes, %d on the wire", v.at, n, wire, len(p.Payload), p.PayloadLen)
					}
					if n < wire && p.ICRC != nil {
						t.Fatalf("%s: %d bytes of %d: bytes of the packet were taken for its ICRC", v.at, n, wire)
					}
					// What a cut capture still holds decodes as in the whole packet.
					if wire == v.wire && p.Headers&^whole.Headers != 0 {
						t.Fatalf("%s: %d bytes of %d: headers that are not there", v.at, n, wire)
					}
					if wire == v.wire && err == nil && wholeErr == nil && p.PayloadLen != whole.PayloadLen {
						t.Fatalf("%s: %d bytes of %d: payload of %d bytes on the wire, want %d", v.at, n, wire, p.PayloadLen, whole.PayloadLen)
					}
				}
			}
		}
	}
}

// HeaderBytes are the bytes that the header encodes to.
func TestHeaderBytes(t *testing.T) {
	for _, v := range vectors(t, "packets.txt") {
		var p Packet
		_ = p.Decode(v.raw, v.wire)
		off := 0
		for _, h := range Headers() {
			got := p.HeaderBytes(h)
			if !p.Has(h) {
				if got != nil {
					t.Errorf("%s: bytes of a %s that is not there", v.at, h)
				}
				continue
			}
			want, err := p.structOf(h).(wire).AppendBinary(nil)
			if err != nil || !bytes.Equal(got, want) || !bytes.Equal(got, v.raw[off:off+len(got)]) {
				t.Errorf("%s: %s is %x, want %x, %v", v.at, h, got, want, err)
			}
			off += len(got)
		}
	}
	if made := (&Packet{Headers: Set(HeaderBTH)}); made.HeaderBytes(HeaderBTH) != nil {
		t.Error("a packet that was not decoded has bytes")
	}
}
