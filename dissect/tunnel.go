package dissect

// Tunnel is an encapsulation around the frame that carries RDMA.
type Tunnel uint8

// The tunnels that Locate unwraps.
const (
	NoTunnel Tunnel = iota
	VXLAN           // RFC 7348
	GENEVE          // RFC 8926
	GRE             // RFC 2784, 2890, and NVGRE (RFC 7637)
	ERSPAN1         // ERSPAN type I, without a header of its own
	ERSPAN2         // ERSPAN type II
	ERSPAN3         // ERSPAN type III
	MPLS            // RFC 3032, one label
	IPIP            // IP in IP, any of the four combinations
)

var tunnelNames = [...]string{"", "vxlan", "geneve", "gre", "erspan1", "erspan2", "erspan3", "mpls", "ipip"}

// String is the name in the JSON output: "vxlan".
func (t Tunnel) String() string { return tunnelNames[t] }

// Tunnels is a chain of encapsulations, outermost first. A frame nested deeper
// than the array is not followed.
type Tunnels [8]Tunnel

// Len is the number of encapsulations.
func (t *Tunnels) Len() int {
	for i, tunnel := range t {
		if tunnel == NoTunnel {
			return i
		}
	}
	return len(t)
}
