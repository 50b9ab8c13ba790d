package codec

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wire is what every header struct can do.
type wire interface {
	Decode(b []byte) error
	AppendBinary(b []byte) ([]byte, error)
}

// structs makes an empty struct of each kind of header.
var structs = map[Header]func() wire{
	HeaderLRH:          func() wire { return new(LRH) },
	HeaderGRH:          func() wire { return new(GRH) },
	HeaderBTH:          func() wire { return new(BTH) },
	HeaderRDETH:        func() wire { return new(RDETH) },
	HeaderDETH:         func() wire { return new(DETH) },
	HeaderXRCETH:       func() wire { return new(XRCETH) },
	HeaderFETH:         func() wire { return new(FETH) },
	HeaderRETH:         func() wire { return new(RETH) },
	HeaderAtomicETH:    func() wire { return new(AtomicETH) },
	HeaderAETH:         func() wire { return new(AETH) },
	HeaderTCAETH:       func() wire { return new(TCAETH) },
	HeaderAtomicAckETH: func() wire { return new(AtomicAckETH) },
	HeaderSackETH:      func() wire { return new(SackETH) },
	HeaderMPETH:        func() wire { return new(MPETH) },
	HeaderIRNETH:       func() wire { return new(IRNETH) },
	HeaderImmDt:        func() wire { return new(ImmDt) },
	HeaderIETH:         func() wire { return new(IETH) },
	HeaderCNP:          func() wire { return new(CNP) },
	HeaderMAD:          func() wire { return new(MAD) },
	HeaderREQ:          func() wire { return new(REQ) },
	HeaderREP:          func() wire { return new(REP) },
	HeaderRTU:          func() wire { return new(RTU) },
	HeaderDREQ:         func() wire { return new(DREQ) },
	HeaderDREP:         func() wire { return new(DREP) },
	HeaderREJ:          func() wire { return new(REJ) },
	HeaderIPCM:         func() wire { return new(IPCM) },
	HeaderRate:         func() wire { return new(Rate) },
}

// leaves are the exported fields of a struct by name, those of a struct inside
// as "Primary.SL". TCAETH.Short is no field on the wire.
func leaves(v reflect.Value, prefix string, into map[string]reflect.Value) map[string]reflect.Value {
	for i := range v.NumField() {
		name := prefix + v.Type().Field(i).Name
		switch {
		case v.Type() == reflect.TypeFor[TCAETH]() && name == "Short":
		case v.Field(i).Kind() == reflect.Struct:
			leaves(v.Field(i), name+".", into)
		default:
			into[name] = v.Field(i)
		}
	}
	return into
}

// number is a field's value; bytes is its content where it is an array.
func number(v reflect.Value) (n uint64, content []byte) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			n = 1
		}
	case reflect.Array:
		content = v.Slice(0, v.Len()).Bytes()
	default:
		n = v.Uint()
	}
	return n, content
}

// The field table and the structs are written apart. This holds them together:
// what a struct decodes is what its rows say, and encoding inverts it.
func TestStructsEqualTheFieldTable(t *testing.T) {
	if len(structs) != len(Headers()) {
		t.Fatalf("%d structs for %d kinds of header", len(structs), len(Headers()))
	}
	for _, h := range Headers() {
		t.Run(h.Key(), func(t *testing.T) {
			t.Run("rows tile the header", func(t *testing.T) { rowsTile(t, h) })
			t.Run("rows and fields pair", func(t *testing.T) { rowsPair(t, h) })
			t.Run("decoding", rapid.MakeCheck(func(t *rapid.T) { decodesWhatRowsSay(t, h) }))
			t.Run("errors", func(t *testing.T) { refuses(t, h) })
		})
	}
}

func rowsTile(t *testing.T, h Header) {
	next := 0
	keys := map[string]bool{}
	for _, f := range h.Fields() {
		if f.Off != next {
			t.Errorf("%s begins at bit %d, the row before ends at %d", f.Name, f.Off, next)
		}
		next = f.Off + f.Bits
		if keys[f.Key] && !f.Reserved() {
			t.Errorf("two rows have the key %q", f.Key)
		}
		keys[f.Key] = true
		if f.Doc == "" || f.Reserved() != strings.Contains(f.Name, "Rsv") {
			t.Errorf("%s: doc %q, key %q", f.Name, f.Doc, f.Key)
		}
		aligned := f.Off%8 == 0 && f.Bits%8 == 0
		switch f.Base {
		case GID:
			if f.Bits != 128 || !aligned {
				t.Errorf("%s is no GID: %d bits at %d", f.Name, f.Bits, f.Off)
			}
		case Data:
			if !aligned {
				t.Errorf("%s does not consist of whole bytes", f.Name)
			}
		case Flag:
			if f.Bits != 1 {
				t.Errorf("flag %s has %d bits", f.Name, f.Bits)
			}
		default:
			if (f.Off+f.Bits+7)/8-f.Off/8 > 8 {
				t.Errorf("%s does not fit 64 bits", f.Name)
			}
		}
	}
	if next != 8*h.Len() {
		t.Errorf("the rows end at bit %d of %d", next, 8*h.Len())
	}
}

func rowsPair(t *testing.T, h Header) {
	fields := leaves(reflect.ValueOf(structs[h]()).Elem(), "", map[string]reflect.Value{})
	for _, f := range h.Fields() {
		v, ok := fields[f.Name]
		if !ok {
			t.Errorf("row %s has no field", f.Name)
			continue
		}
		delete(fields, f.Name)
		if (v.Kind() == reflect.Bool) != (f.Base == Flag) {
			t.Errorf("%s is a %s", f.Name, v.Kind())
		}
		if wide := f.Base == GID || f.Base == Data; (v.Kind() == reflect.Array) != wide || wide && 8*v.Len() != f.Bits {
			t.Errorf("%s is a %s", f.Name, v.Type())
		}
	}
	for name := range fields {
		t.Errorf("field %s has no row", name)
	}
}

func decodesWhatRowsSay(t *rapid.T, h Header) {
	n := h.Len()
	raw := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes")
	kept := bytes.Clone(raw)

	clean, dirty := structs[h](), structs[h]()
	_ = dirty.Decode(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "decoded before"))
	if err := clean.Decode(raw); err != nil {
		t.Fatal(err)
	}
	// What follows a header is not its business.
	if err := dirty.Decode(append(bytes.Clone(raw), 0xa5, 0xa5)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(clean, dirty) {
		t.Fatalf("decoding into a used struct gives %+v, into a new one %+v", dirty, clean)
	}
	if !bytes.Equal(raw, kept) {
		t.Fatal("decoding changed its input")
	}

	fields := leaves(reflect.ValueOf(clean).Elem(), "", map[string]reflect.Value{})
	for _, f := range h.Fields() {
		got, content := number(fields[f.Name])
		if content != nil {
			if !bytes.Equal(content, f.Bytes(raw)) {
				t.Fatalf("%s is %x, the table says %x", f.Name, content, f.Bytes(raw))
			}
			continue
		}
		if want := bitByBit(raw, f.Off, f.Bits); got != want || f.Value(raw) != want {
			t.Fatalf("%s is %#x, by Value %#x, the bits of its row are %#x", f.Name, got, f.Value(raw), want)
		}
	}

	// Encoding inverts it, behind what is there and over what lies in the room.
	room := bytes.Repeat([]byte{0xa5}, n+8)
	out, err := clean.AppendBinary(room[:3])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out[3:], raw) || !bytes.Equal(out[:3], []byte{0xa5, 0xa5, 0xa5}) || !bytes.Equal(room[3+n:], []byte{0xa5, 0xa5, 0xa5, 0xa5, 0xa5}) {
		t.Fatalf("encodes to %x, decoded from %x", out[3:], raw)
	}
	if room[3] != raw[0] {
		t.Fatal("appending left the room that it was given")
	}
}

// bitByBit reads bits in the most literal way.
func bitByBit(b []byte, off, bits int) (v uint64) {
	for i := off; i < off+bits; i++ {
		v = v<<1 | uint64(b[i/8]>>(7-i%8)&1)
	}
	return v
}

// refuses checks that every short input and every value that is too large is an
// error that says so.
func refuses(t *testing.T, h Header) {
	for n := range h.Len() {
		if h == HeaderTCAETH && n == tcaethShort {
			continue
		}
		err := structs[h]().Decode(make([]byte, n))
		want := fmt.Sprintf("%s: truncated: %d of %d bytes", h, n, h.Len())
		if !errors.Is(err, ErrTruncated) || err.Error() != want {
			t.Errorf("%d bytes: %v, want %q", n, err, want)
		}
	}
	for _, f := range h.Fields() {
		s := structs[h]()
		v := leaves(reflect.ValueOf(s).Elem(), "", map[string]reflect.Value{})[f.Name]
		if v.Kind() == reflect.Bool || v.Kind() == reflect.Array || v.Type().Bits() == f.Bits {
			continue // every value fits
		}
		v.SetUint(1 << f.Bits)
		got, err := s.AppendBinary([]byte{1, 2})
		want := fmt.Sprintf("%s: %s: out of range: %#x does not fit %d bits", h, f.Name, uint64(1)<<f.Bits, f.Bits)
		if !errors.Is(err, ErrRange) || err.Error() != want || !bytes.Equal(got, []byte{1, 2}) {
			t.Errorf("%s too large: %x and error %v, want %q", f.Name, got, err, want)
		}
	}
}

// The 27-byte form of the T/C AETH is the 30-byte form without its end.
func TestShortTCAETH(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 30, 30).Draw(t, "bytes")
		var long, short TCAETH
		if err := long.Decode(raw); err != nil {
			t.Fatal(err)
		}
		_ = short.Decode(raw)
		if err := short.Decode(raw[:27]); err != nil {
			t.Fatal(err)
		}
		if out, err := short.AppendBinary(nil); err != nil || !bytes.Equal(out, raw[:27]) || short.Len() != 27 {
			t.Fatalf("encodes to %x, %v", out, err)
		}
		long.Short, long.RsvCont = true, 0
		if short != long {
			t.Fatalf("decodes to %+v, want %+v", short, long)
		}
	})
}

func TestFieldText(t *testing.T) {
	raw := []byte{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34}
	for want, f := range map[string]Field{
		"65152":      {Bits: 16},
		"0xfe80":     {Bits: 16, Base: Hex},
		"0x7":        {Bits: 3, Base: Hex},
		"1":          {Bits: 1, Base: Flag},
		"0":          {Off: 7, Bits: 1, Base: Flag},
		"564":        {Off: 118, Bits: 10},
		"fe80::1234": {Bits: 128, Base: GID},
		"1234":       {Off: 112, Bits: 16, Base: Data},
	} {
		if got := f.Text(raw); got != want {
			t.Errorf("%+v is %q, want %q", f, got, want)
		}
	}
	// Rows beyond the bytes at hand are zero, not a panic.
	for _, f := range []Field{{Off: 120, Bits: 16}, {Off: 8, Bits: 128, Base: GID}, {Off: 128, Bits: 8, Base: Data}} {
		if f.Value(raw) != 0 || f.Bytes(raw) != nil {
			t.Errorf("%+v reads %d, %x beyond the end", f, f.Value(raw), f.Bytes(raw))
		}
		_ = f.Text(raw)
	}
}
