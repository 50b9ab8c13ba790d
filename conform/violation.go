package conform

import "github.com/rdmadump/rdmadump/dissect"

// Violation is a rule that was broken once. Its JSON form is a contract
// (docs/output.md).
type Violation struct {
	Rule       string   `json:"rule"`
	Severity   Severity `json:"severity"`
	Frames     []int    `json:"frames"`         // that show it, the one that breaks the rule last
	File       *int     `json:"file,omitempty"` // of the last frame, where several captures are read
	Connection int      `json:"connection"`     // as in events; 0 where the packet belongs to none
	Text       string   `json:"text"`

	// Src, Dst and DestQP are the flow of the requests, or of the packet where it
	// belongs to none.
	Src, Dst dissect.Address `json:"-"`
	DestQP   dissect.QPN     `json:"-"`
}
