package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "version prints the version, the commit it was built from, and the Go version.",
		Example: "  rdmadump version",
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.out, "rdmadump", buildText())
			return writeError(err)
		},
	}
}

// buildText says what this binary was built from.
func buildText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionText(info)
}

// versionText says what the binary was built from.
func versionText(info *debug.BuildInfo) string {
	version, commit, dirty := info.Main.Version, "", ""
	if version == "" {
		version = "(devel)"
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = ", modified"
		}
	}
	if commit == "" {
		commit = "unknown"
	}
	return fmt.Sprintf("%s, commit %s%s, %s %s/%s", version, commit, dirty, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
