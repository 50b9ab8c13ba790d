package sim

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/rdmadump/rdmadump/psn"
)

// Scenario is everything that decides what is sent and what becomes of it. Start
// from Default: a field that is left zero is taken as zero.
type Scenario struct {
	About string        `yaml:"about"` // what it shows, one line
	Seed  uint64        `yaml:"seed"`
	Start time.Time     `yaml:"start"` // of the run, as captures date it
	Until time.Duration `yaml:"until"` // the run is broken off there; 0 for never

	Transport Transport `yaml:"transport"`
	Fault     Breach    `yaml:"fault"` // the rule that endpoints break
	Pairs     Pairs     `yaml:"pairs"`
	Work      []Work    `yaml:"work"` // what each queue pair posts
	Order     Order     `yaml:"order"`
	Receives  Receives  `yaml:"receives"`
	Handshake bool      `yaml:"handshake"` // connection management in front of each queue pair and behind it

	Carrier     Carrier     `yaml:"carrier"`
	VLAN        []uint16    `yaml:"vlan"` // tags, outermost first; a tag is priority and VLAN ID
	DSCP        uint8       `yaml:"dscp"` // 6 bits
	ECN         bool        `yaml:"ecn"`  // packets say that they take part in ECN
	CNP         CNP         `yaml:"cnp"`
	Sender      Host        `yaml:"sender"`
	Receiver    Host        `yaml:"receiver"`
	Arbitration Arbitration `yaml:"arbitration"`

	Links []Link `yaml:"links"` // from the sender to the receiver, where there is one path
	Paths []Path `yaml:"paths"` // in place of Links; a packet takes one by its UDP source port
	Taps  []Tap  `yaml:"taps"`  // the capture points that the scenario is about
}

// Pairs are the queue pairs.
type Pairs struct {
	Count         int           `yaml:"count"`
	MTU           int           `yaml:"mtu"`             // path MTU in bytes: 256, 512, 1024, 2048 or 4096
	StartPSN      *psn.PSN      `yaml:"start-psn"`       // of every send queue; left out, each has a random one
	SenderQPN     uint32        `yaml:"sender-qpn"`      // of the first queue pair; the others count up
	ReceiverQPN   uint32        `yaml:"receiver-qpn"`    // likewise
	AckTimeout    uint8         `yaml:"ack-timeout"`     // code: 4.096 us x 2^n, 0 for none
	RetryCount    int           `yaml:"retry-count"`     // 0 to 7
	RNRRetryCount int           `yaml:"rnr-retry-count"` // 0 to 7, 7 without end
	RNRTimer      time.Duration `yaml:"rnr-timer"`       // what an RNR NAK asks for
	ReadLimit     int           `yaml:"read-limit"`      // READs and atomics outstanding at a time
	Depth         int           `yaml:"depth"`           // work requests posted at a time
	Stagger       time.Duration `yaml:"stagger"`         // between the starts of two queue pairs
}

// Work is a number of equal work requests.
type Work struct {
	Verb  Verb          `yaml:"verb"`
	Size  Size          `yaml:"size"`  // of each message in bytes; of no use to atomics
	Count int           `yaml:"count"` // messages of each queue pair
	From  End           `yaml:"from"`
	Every time.Duration `yaml:"every"` // time between two posts; 0 posts as fast as Depth allows
	RKey  *uint32       `yaml:"rkey"`  // a wrong one is refused by the other end; left out, the right one
}

// Receives says how fast an application posts receives. The zero value has one
// posted whenever it is needed.
type Receives struct {
	Posted int           `yaml:"posted"` // at the start, and the most at a time
	Every  time.Duration `yaml:"every"`  // time until another one is posted
}

// Host is one of the two ends.
type Host struct {
	Address netip.Addr `yaml:"address"`
	MAC     MAC        `yaml:"mac"`
	LID     uint16     `yaml:"lid"`  // of InfiniBand
	Rate    Rate       `yaml:"rate"` // of the port that all queue pairs share
}

// CNP says how a host that receives marked packets tells their sender. The zero
// value has it keep silent.
type CNP struct {
	Every time.Duration `yaml:"every"` // at most one in this time for each queue pair
}

// Path is links that lie behind one another.
type Path struct {
	Count int    `yaml:"count"` // so many paths alike, 0 for one
	Links []Link `yaml:"links"`
}

// Link is a link in both directions, with the queue in front of it.
type Link struct {
	Name  string        `yaml:"name"`
	Delay time.Duration `yaml:"delay"` // of propagation
	Rate  Rate          `yaml:"rate"`  // 0 is that of no limit, and there is no queue then
	Queue Size          `yaml:"queue"` // bytes that may wait, what does not fit is dropped; 0 is no limit
	Mark  Size          `yaml:"mark"`  // packets that find more bytes waiting are marked CE; 0 marks none
	There Direction     `yaml:"there"` // from the sender to the receiver
	Back  Direction     `yaml:"back"`
}

// Direction is what a link does to packets on purpose, over and above its queue.
// Connection management is left alone.
type Direction struct {
	Loss      []Pick `yaml:"loss"`
	Damage    []Pick `yaml:"damage"`    // a bit is wrong, and with it the ICRC
	Duplicate []Pick `yaml:"duplicate"` // the packet arrives twice
	Mark      []Pick `yaml:"mark"`      // CE, as by a congested switch
	Reorder   []Late `yaml:"reorder"`
}

// Late holds packets back, so that later ones overtake them.
type Late struct {
	Pick `yaml:",inline"`
	By   time.Duration `yaml:"by"`
}

// Pick chooses packets of one direction of a link, by one of several models.
type Pick struct {
	Model Model `yaml:"model"`
	Only  Only  `yaml:"only"` // packets of other kinds are not looked at, nor counted
	QP    int   `yaml:"qp"`   // the same for other queue pairs, counted from 1; 0 is all

	P float64 `yaml:"p"` // bernoulli: probability

	GoodToBad float64  `yaml:"good-to-bad"` // gilbert-elliott: probability to change state, before each packet
	BadToGood float64  `yaml:"bad-to-good"`
	InGood    float64  `yaml:"in-good"` // probability to be chosen in the state
	InBad     *float64 `yaml:"in-bad"`  // left out, 1

	N []int64 `yaml:"n"` // nth: which packets, counted from 1

	First int64 `yaml:"first"` // burst: the first packet of it, counted from 1
	Count int64 `yaml:"count"` // burst: packets
	Every int64 `yaml:"every"` // burst: packets from the start of one to the start of the next; 0 has one burst

	PSN []Copy `yaml:"psn"` // psn: which

	From  time.Duration `yaml:"from"`  // outage: from when
	Until time.Duration `yaml:"until"` // outage: to when
}

// Copy is a transmission of a PSN.
type Copy struct {
	PSN  psn.PSN `yaml:"psn"`
	Copy int     `yaml:"copy"` // n-th transmission, 0 for all
}

// String is the copy as --drop takes it.
func (c Copy) String() string {
	if c.Copy == 0 {
		return c.PSN.String()
	}
	return fmt.Sprintf("%s:%d", c.PSN, c.Copy)
}

// Tap is a capture point: "sender", "receiver", or the name of a link, whose far
// end it stands at as seen from the sender.
type Tap string

// Default is one WRITE over one link that loses nothing.
func Default() Scenario {
	host := func(n uint8) Host {
		return Host{Address: netip.AddrFrom4([4]byte{10, 0, 0, n}), MAC: MAC{2, 0, 0, 0, 0, n}, LID: uint16(n), Rate: 40e9}
	}
	return Scenario{
		Seed:      1,
		Start:     time.Unix(1700000000, 0).UTC(),
		Until:     time.Hour,
		Transport: Transport{Name: GoBackN},
		Pairs: Pairs{Count: 1, MTU: 1024, SenderQPN: 0x22, ReceiverQPN: 0x11, AckTimeout: 14, RetryCount: 7,
			RNRRetryCount: 7, RNRTimer: 120 * time.Microsecond, ReadLimit: 16, Depth: 16},
		Work:        []Work{{Verb: "write", Size: Fixed(64 << 10), Count: 1, From: FromSender}},
		Order:       InTurn,
		Carrier:     CarrierIPv4,
		ECN:         true,
		Sender:      host(1),
		Receiver:    host(2),
		Arbitration: ResendsFirst,
		Links:       []Link{{Name: "wire", Delay: 5 * time.Microsecond}},
	}
}
