// Package transporttest drives the two machines of a queue pair over a link
// that loses, delays, reorders and repeats packets as a test says, and checks
// that the work was done: each message once, in order, with its bytes.
//
// A Workload makes the memory and the work requests, a Link carries the
// packets. Nothing in here knows a transport.
package transporttest
