package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/report"
)

// The exit statuses of every command.
const (
	Done   = 0
	Failed = 1 // it could not do its job
	Wrong  = 2 // usage
	Found  = 3 // what was asked for was found
)

var (
	// ErrReported ends a command with Failed when the messages have been written.
	ErrReported = errors.New("already reported")

	// ErrFound ends a command with Found.
	ErrFound = errors.New("found")
)

// UsageError is a command line that makes no sense.
type UsageError struct {
	Err     error
	Command string   // whose help to read
	Excerpt []string // lines that show what is wrong, printed under the message
}

// Error is the message.
func (u UsageError) Error() string { return u.Err.Error() }

// Usage makes an error of a command line that makes no sense.
func Usage(command *cobra.Command, format string, args ...any) error {
	return UsageError{Err: fmt.Errorf(format, args...), Command: command.CommandPath()}
}

// Run executes a command line of the program that root is, and returns the exit
// status.
func Run(root *cobra.Command, args []string, out, stderr io.Writer) int {
	program := root.Name()
	help := &faultKeeper{w: out}
	root.SetOut(help) // cobra does not look whether it could write
	root.SetErr(stderr)
	root.SetArgs(args)
	root.SetFlagErrorFunc(FlagError)
	command, err := root.ExecuteC()
	var usage UsageError
	switch {
	case help.err != nil:
		Complain(stderr, program, WriteError(help.err))
		return Failed
	case err == nil:
		return Done
	case errors.Is(err, ErrFound):
		return Found
	case errors.Is(err, ErrReported):
		return Failed
	case errors.As(err, &usage):
	case command == root: // cobra's own: no such command
		usage = UsageError{Err: err, Command: program}
	default:
		Complain(stderr, program, err)
		return Failed
	}
	Complain(stderr, program, usage.Err)
	for _, line := range usage.Excerpt {
		fmt.Fprintf(stderr, "    %s\n", report.Visible(line))
	}
	fmt.Fprintf(stderr, "%s: hint: see %s --help\n", program, usage.Command)
	return Wrong
}

// FlagError words what pflag says of a command line.
func FlagError(command *cobra.Command, err error) error {
	if number := (*strconv.NumError)(nil); errors.As(err, &number) { // only switches leave it to strconv
		err = errors.New(strings.TrimSuffix(err.Error(), number.Error()) + "want true or false")
	}
	return UsageError{Err: err, Command: command.CommandPath()}
}

// Complain writes a message, one line whatever is in it.
func Complain(w io.Writer, program string, err error) {
	fmt.Fprintf(w, "%s: %s\n", program, report.Visible(err.Error()))
}

// WriteError says that it was standard output where writing failed; nil stays
// nil.
func WriteError(err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("standard output: %w", err)
}

// faultKeeper remembers the first error of a writer for those who do not look.
type faultKeeper struct {
	w   io.Writer
	err error
}

func (k *faultKeeper) Write(b []byte) (int, error) {
	n, err := k.w.Write(b)
	if k.err == nil {
		k.err = err
	}
	return n, err
}
