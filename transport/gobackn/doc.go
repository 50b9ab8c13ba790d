// Package gobackn is the transport of InfiniBand's Reliable Connection, as
// RoCEv2 uses it too: the responder accepts requests in order and nothing else,
// and a requester that learns of a loss sends everything again from there (IBA
// 9.7).
package gobackn
