module github.com/rdmadump/rdmadump

go 1.25.0

require (
	github.com/google/gopacket v1.1.19
	github.com/klauspost/compress v1.20.4
)

require (
	golang.org/x/net v0.0.0-20190620200207-3b0461eec859 // indirect
	golang.org/x/sys v0.0.0-20190412213103-97732733099d // indirect
)
