package main

import (
	"fmt"
	"strconv"
	"strings"
)

// udpPorts is the value of --udp-port.
type udpPorts []uint16

func (p *udpPorts) Type() string { return "port" }

func (p *udpPorts) String() string {
	var words []string
	for _, port := range *p {
		words = append(words, strconv.Itoa(int(port)))
	}
	return strings.Join(words, ",")
}

// Set takes one port, or several with commas between them.
func (p *udpPorts) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		port, err := strconv.ParseUint(word, 10, 16)
		if err != nil || port == 0 {
			return fmt.Errorf("want a port, 1 to 65535")
		}
		*p = append(*p, uint16(port))
	}
	return nil
}

const portUsage = "take UDP destination `port` for RoCEv2 as well as 4791; may be repeated"
