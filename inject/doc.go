// Package inject puts frames on a live network interface, paced. It needs Linux
// and the right to do so (CAP_NET_RAW).
package inject
