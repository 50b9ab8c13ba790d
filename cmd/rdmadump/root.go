package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/report"
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// The exit statuses of every command.
const (
	exitDone   = 0
	exitFailed = 1 // it could not do its job
	exitUsage  = 2
	exitFound  = 3 // what was asked for was found
)

var (
	errReported = errors.New("already reported") // the messages have been written
	errFound    = errors.New("found")            // what --fail-on-loss asks for
)

// helpWidth is the columns that help keeps to.
const helpWidth = "80"

// usageError is a command line that makes no sense.
type usageError struct {
	error
	command string // whose help to read
}

// run executes a command line and returns the exit status.
func run(args []string, s streams) int {
	root := newRoot(s)
	help := &faultKeeper{w: s.out}
	root.SetOut(help) // cobra does not look whether it could write
	root.SetArgs(args)
	command, err := root.ExecuteC()
	var usage usageError
	switch {
	case help.err != nil:
		s.complain(writeError(help.err))
		return exitFailed
	case err == nil:
		return exitDone
	case errors.Is(err, errFound):
		return exitFound
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &usage):
	case command == root: // cobra's own: no such command
		usage = usageError{err, root.Name()}
	default:
		s.complain(err)
		return exitFailed
	}
	s.complain(usage.error)
	fmt.Fprintf(s.err, "rdmadump: hint: see %s --help\n", usage.command)
	return exitUsage
}

// complain writes a message on standard error, one line whatever is in it.
func (s streams) complain(err error) {
	fmt.Fprintf(s.err, "rdmadump: %s\n", report.Visible(err.Error()))
	if e := (*live.Error)(nil); errors.As(err, &e) && e.Hint != "" {
		fmt.Fprintf(s.err, "rdmadump: hint: %s\n", report.Visible(e.Hint))
	}
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "rdmadump",
		Short: "Read RDMA packets and explain loss from captures",
		Long: `rdmadump reads RDMA packets from captures (RoCEv2, RoCEv1, native InfiniBand)
and explains loss: which packets were lost, on which side of the capture point,
how that is known, and what was sent again for it.

Captures are pcap or pcapng files, plain or compressed (gzip, zstd), or - for
standard input. Several files are one tap's rotation, read in order of time.

Exit status: 0 done; 1 some input could not be read, or not to its end; 2 wrong
usage; 3 done, and loss was found (--fail-on-loss of loss and compare).`,
		Example: `  rdmadump read trace.pcap
  rdmadump loss trace.pcap
  tcpdump -i eth0 -w - udp port 4791 | rdmadump read -`,
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("no such command: %s", args[0]), command.CommandPath()}
			}
			return usageError{errors.New("a command is missing"), command.CommandPath()}
		},
	}
	root.SetErr(s.err)
	root.Flags().Bool("version", false, "print the version")
	root.Version = buildText()
	root.SetVersionTemplate("rdmadump {{.Version}}\n")
	root.SetHelpCommand(newHelp())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped "+helpWidth+" "))
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		if number := (*strconv.NumError)(nil); errors.As(err, &number) { // only switches leave it to strconv
			err = errors.New(strings.TrimSuffix(err.Error(), number.Error()) + "want true or false")
		}
		return usageError{err, command.CommandPath()}
	})
	root.AddCommand(newRead(s), newLoss(s), newCompare(s), newFields(s), newVersion(s))
	return root
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
		return usageError{errors.New("name a capture file, or - for standard input"), command.CommandPath()}
	case stdin > 1:
		return usageError{errors.New("standard input can be read once only"), command.CommandPath()}
	}
	return nil
}

// none is the argument check of commands that take none.
func none(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument: %s", args[0]), command.CommandPath()}
	}
	return nil
}
