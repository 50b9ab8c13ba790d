// Command rdmagen makes RDMA traffic: what correct endpoints would have sent over
// a network that loses, damages and reorders packets.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/internal/cli"
)

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// complain writes a message on standard error.
func (s streams) complain(err error) { cli.Complain(s.err, "rdmagen", err) }

// run executes a command line and returns the exit status.
func run(args []string, s streams) int {
	root := cli.Root(cobra.Command{
		Use:   "rdmagen",
		Short: "Make RDMA traffic, with loss and the truth about it",
		Long: `rdmagen makes captures of RDMA traffic: what correct endpoints would have sent
over a network that loses, damages, duplicates and reorders packets, seen from
any point of it, and beside the captures the truth about every packet.

Exit status: 0 done; 1 it could not be done; 2 wrong usage.`,
		Example: `  rdmagen flow --count 20 --loss 0.01 | rdmadump loss -
  rdmagen flow -f scenario.yaml -o sender=a.pcap -o receiver=b.pcap
  rdmagen craft --opcode cnp --icrc bad -o cnp.pcap
  rdmagen race --size 1MiB --losses 0,0.001,0.01`,
	}, newFlow(s), newRace(s), newCraft(s), newReplay(s), newSend(s))
	return cli.Run(root, args, s.out, s.err)
}
