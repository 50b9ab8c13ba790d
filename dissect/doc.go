// Package dissect turns captured frames into verdicts on RDMA packet loss.
//
// It knows neither files nor capture libraries: bytes and a timestamp come in
// (Frame), the transport packet is located in them (Locate), decoded once with
// package codec, and followed per connection. Evidence that a capture cannot
// give is reported as unknown, never guessed.
package dissect
