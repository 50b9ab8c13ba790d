package transport

import "github.com/rdmadump/rdmadump/codec"

// Verb is what a work request asks for.
type Verb uint8

// The verbs.
const (
	Send Verb = iota
	SendImm
	SendInv
	Write
	WriteImm
	Read
	CmpSwap
	FetchAdd
)

// String is the verb as scenarios spell it.
func (v Verb) String() string {
	return [...]string{"send", "send-imm", "send-inv", "write", "write-imm", "read", "cmp-swap", "fetch-add"}[v]
}

// Answered reports whether the verb completes with an answer of its own, a READ
// response or an ATOMIC acknowledge, and not by an acknowledgement alone.
func (v Verb) Answered() bool { return v >= Read }

// Consumes reports whether the message takes a receive at the responder.
func (v Verb) Consumes() bool { return v <= SendInv || v == WriteImm }

// WorkRequest is one message to be sent (IBA 10.8).
type WorkRequest struct {
	ID     uint64 // given back in the Completion
	Verb   Verb
	Local  uint64 // where the data is at the requester; of READ and atomics, where the answer goes
	Remote uint64 // where it goes or comes from at the responder; of no use to SEND
	RKey   uint32 // of the memory at Remote
	Length uint32 // bytes; 8 for atomics

	Imm     uint32 // immediate data, or the R_Key to invalidate
	Compare uint64 // CmpSwap
	Swap    uint64 // CmpSwap: the new value; FetchAdd: what to add

	// Synchronise asks that the message is placed after everything before it.
	// MP-RDMA alone needs to be told; the other transports place in that order
	// anyway, or promise no order.
	Synchronise bool
}

// Packets is how many PSNs the request takes with a path MTU in bytes: one for
// each packet of data, requested or sent, and one where there is no data (IBA
// 9.7.2). IRN's READ takes one, and counts its responses apart.
func (w *WorkRequest) Packets(mtu int) int {
	if w.Verb == CmpSwap || w.Verb == FetchAdd {
		return 1
	}
	return max(1, (int(w.Length)+mtu-1)/mtu)
}

// Status is how a work request ended.
type Status uint8

// The ways to end, with the number that verbs gives them (enum ibv_wc_status).
const (
	Success       Status = 0
	LocalLength   Status = 1  // a response did not have the length that was asked for
	Flushed       Status = 5  // the queue pair was in ERROR already
	RemoteInvalid Status = 9  // NAK: invalid request
	RemoteAccess  Status = 10 // NAK: remote access error
	RemoteOp      Status = 11 // NAK: remote operational error
	RetryExceeded Status = 12 // no answer, or the same NAK, too often
	RNRExceeded   Status = 13 // receiver not ready too often
)

// NAKStatus is how a request ends that the responder refused for good.
func NAKStatus(s codec.Syndrome) Status {
	switch s & 0x7f {
	case codec.SyndromeInvalidRequest:
		return RemoteInvalid
	case codec.SyndromeRemoteAccess:
		return RemoteAccess
	}
	return RemoteOp
}

// Completion tells that a work request has ended.
type Completion struct {
	ID     uint64
	Status Status
}
