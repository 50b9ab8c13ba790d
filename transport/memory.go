package transport

// Memory is what one end of a queue pair may read and write. A test's holds
// bytes; a generator's makes them from a seed and checks what comes back.
type Memory interface {
	// Load gives n bytes from va on. They stay as they are for as long as a
	// packet that carries them may be under way.
	Load(va uint64, n int) []byte

	// Store puts b at va. Where a packet is placed twice, b is the same.
	Store(va uint64, b []byte)

	// CmpSwap makes the 8 bytes at va swap if they are compare; FetchAdd adds
	// to them. Both give what was there before.
	CmpSwap(va, compare, swap uint64) uint64
	FetchAdd(va, add uint64) uint64

	// Allows reports whether the peer may reach n bytes from va on with this
	// R_Key. Where it may not, the responder answers with a remote access NAK.
	Allows(rkey uint32, va uint64, n int) bool

	// Receive takes the next receive that was posted and gives its place, or
	// says that there is none: the responder answers with an RNR NAK. It is
	// asked once for each message that consumes a receive, and again after
	// each RNR NAK.
	Receive() (va uint64, posted bool)
}
