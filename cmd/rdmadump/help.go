package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print the help of a command",
		Long:    "help prints what a command is for and which flags it takes, as its --help does.",
		Example: "  rdmadump help loss",
		RunE: func(command *cobra.Command, args []string) error {
			about, rest, err := command.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{fmt.Errorf("no such command: %s", strings.Join(args, " ")), command.Root().CommandPath()}
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
