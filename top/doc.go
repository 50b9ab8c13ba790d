// Package top is a live view of connections, the ones in trouble first. It knows
// what an analyzer tells of connections while they run, not where packets come
// from: who reads them holds the Sampler's lock meanwhile.
//
// A Sampler looks at the connections a few times a second and keeps the rows that
// are asked for. A model shows them with Bubble Tea, in goroutines of its own: the
// reader of packets never waits for a terminal.
package top
