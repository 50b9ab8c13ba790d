// Package replay sends the packets of a capture through a network that loses,
// damages, duplicates, marks and reorders them, and says what a capture point
// behind it would have seen. The models are those of sim. Time goes by the
// capture: a packet takes no longer than it did, unless it is held back.
package replay
