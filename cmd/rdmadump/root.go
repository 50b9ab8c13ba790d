package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes a command line and returns the exit status.
func run(args []string, s streams) int { return cli.Run(newRoot(s), args, s.out, s.err) }

// complain writes a message on standard error, and what helps if that is known.
func (s streams) complain(err error) {
	cli.Complain(s.err, "rdmadump", err)
	if e := (*live.Error)(nil); errors.As(err, &e) && e.Hint != "" {
		fmt.Fprintf(s.err, "rdmadump: hint: %s\n", report.Visible(e.Hint))
	}
}

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
	}, newRead(s), newLoss(s), newCompare(s), newCheck(s), newTop(s), newServe(s), newFields(s), newLua(s))
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
