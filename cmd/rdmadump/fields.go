package main

import (
	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/report"
)

func newFields(s streams) *cobra.Command {
	var markdown bool
	command := &cobra.Command{
		Use:   "fields",
		Short: "Print the reference of all headers and fields",
		Long: `fields prints every header that rdmadump decodes and every field of it: its
place, its width, its key in JSON and what it means. It is made from the table
that decoding is proved against.`,
		Example: `  rdmadump fields
  rdmadump fields --markdown > fields.md`,
		Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			b := report.AppendFields(nil, cli.Width(s.out))
			if markdown {
				b = report.AppendFieldsMarkdown(nil)
			}
			_, err := s.out.Write(b)
			return cli.WriteError(err)
		},
	}
	command.Flags().BoolVar(&markdown, "markdown", false, "print Markdown")
	return command
}
