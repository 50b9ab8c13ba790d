// Package frame puts transport packets into frames: the link, network and UDP
// headers of a carrier in front of the BTH, pad and ICRC behind the payload.
// Everything that a receiver or a decoder checks is right: lengths, IP and UDP
// checksums, the ICRC, and the VCRC of an InfiniBand link.
package frame
