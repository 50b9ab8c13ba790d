package filter_test

import (
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// request is a READ request of memory at va, over IPv4.
func request(t testing.TB, va uint64) *dissect.Packet {
	t.Helper()
	p := codec.Packet{Headers: codec.Set(codec.HeaderBTH, codec.HeaderRETH), ICRC: make([]byte, 4)}
	p.BTH.Opcode, p.RETH.VA = codec.Op(codec.RC, codec.ReadRequest), va
	covered := make([]byte, 28)
	b, err := p.AppendBinary(covered)
	if err != nil {
		t.Fatal(err)
	}
	return &dissect.Packet{Carrier: codec.RoCEv2IPv4, Covered: b, BTH: 28, WireLen: len(b) - 28}
}
