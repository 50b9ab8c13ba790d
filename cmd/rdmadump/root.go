package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/internal/cli"
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes a command line and returns the exit status.
func run(args []string, s streams) int { return cli.Run(newRoot(s), args, s.out, s.err) }

// complain writes a message on standard error.
func (s streams) complain(err error) { cli.Complain(s.err, "rdmadump", err) }

func newRoot(s streams) *cobra.Command {
	return cli.Root(cobra.Command{
		Use:   "rdmadump",
		Short: "Read RDMA packets and explain loss from captures",
		Long: `rdmadump reads RDMA packets from captures (RoCEv2, RoCEv1, native InfiniBand)
and explains loss: which packets were lost, on which side of the capture point,
how that is known, and what was sent again for it.

Captures are pcap or pcapng files, plain or compressed (gzip, zstd), or - for
standard input. Several files are one tap's rotation, read in order of time.

Exit status: 0 done; 1 some input could not be read, or not to its end; 2 wrong
usage; 3 done, and what was asked for was found: loss (--fail-on-loss of loss
and compare), or a broken rule (check).`,
		Example: `  rdmadump read trace.pcap
  rdmadump loss trace.pcap
  tcpdump -i eth0 -w - udp port 4791 | rdmadump read -`,
	}, newRead(s), newLoss(s), newCompare(s), newCheck(s), newFields(s), newLua(s))
}

// captures is the argument check of commands that read captures.
func captures(command *cobra.Command, args []string) error {
	stdin := 0
	for _, name := range args {
		if name == "-" {
			stdin++
		}
	}
	switch {
	case len(args) == 0:
		return cli.Usage(command, "name a capture file, or - for standard input")
	case stdin > 1:
		return cli.Usage(command, "standard input can be read once only")
	}
	return nil
}
