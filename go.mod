module github.com/rdmadump/rdmadump

go 1.25.0

require (
	github.com/google/gopacket v1.1.19
	github.com/klauspost/compress v1.20.4
	pgregory.net/rapid v1.3.0
)

require (
	golang.org/x/net v0.55.0 // indirect
	golang.org/x/sys v0.45.0 // indirect
)
