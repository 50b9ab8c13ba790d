package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is the columns that help keeps to.
const helpWidth = "80"

// Root makes a program of its commands. about has the fields that differ: Use,
// Short, Long and Example.
func Root(about cobra.Command, commands ...*cobra.Command) *cobra.Command {
	root := &about
	root.Args = cobra.ArbitraryArgs
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions = cobra.CompletionOptions{DisableDefaultCmd: true}
	root.RunE = func(command *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usage(command, "no such command: %s", args[0])
		}
		return UsageError{Err: errors.New("a command is missing"), Command: command.CommandPath()}
	}
	root.Flags().Bool("version", false, "print the version")
	root.Version = Version()
	root.SetVersionTemplate(root.Name() + " {{.Version}}\n")
	root.SetHelpCommand(newHelp(root.Name() + " help " + commands[0].Name()))
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped "+helpWidth+" "))
	root.AddCommand(commands...)
	root.AddCommand(newVersion(root.Name()))
	return root
}

// NoArguments is the argument check of commands that take none.
func NoArguments(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage(command, "unexpected argument: %s", args[0])
	}
	return nil
}

func newHelp(example string) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print the help of a command",
		Long:    "help prints what a command is for and which flags it takes, as its --help does.",
		Example: "  " + example,
		RunE: func(command *cobra.Command, args []string) error {
			about, rest, err := command.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return UsageError{Err: fmt.Errorf("no such command: %s", strings.Join(args, " ")), Command: command.Root().CommandPath()}
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func newVersion(program string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "version prints the version, the commit it was built from, and the Go version.",
		Example: "  " + program + " version",
		Args:    NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(command.OutOrStdout(), program, Version())
			return err
		},
	}
}
