package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/lua"
)

func newLua(s streams) *cobra.Command {
	var install bool
	command := &cobra.Command{
		Use:   "lua [--install]",
		Short: "Print or install the Wireshark plugin",
		Long: `lua prints the Wireshark plugin, one Lua file that shows in Wireshark and tshark
what rdmadump sees: every header, congestion bits, the ICRC, and gaps and
retransmissions as fields to filter by. It works beside the built-in dissector.

With --install it goes into the user's plugin folder: $WIRESHARK_CONFIG_DIR,
what tshark -G folders says, or where Wireshark looks by default. An older
version is replaced; another file of that name is not.`,
		Example: `  rdmadump lua --install
  tshark -r trace.pcap -Y rdma.analysis.gap
  rdmadump lua > rdmadump.lua && tshark -X lua_script:rdmadump.lua -r trace.pcap`,
		Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if install {
				return installPlugin(s)
			}
			_, err := s.out.Write(lua.Plugin)
			return cli.WriteError(err)
		},
	}
	command.Flags().BoolVar(&install, "install", false, "put it into the user's Wireshark plugin folder")
	return command
}

// installPlugin installs the plugin and says what to do next.
func installPlugin(s streams) error {
	home, _ := os.UserHomeDir() // where it is not known, Folder says so if it matters
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		tshark = ""
	}
	place := lua.Place{OS: runtime.GOOS, Getenv: os.Getenv, Home: home}
	folder, err := place.Folder(tshark)
	if err != nil {
		return fmt.Errorf("the plugin folder: %w", err)
	}
	path, changed, err := lua.Install(folder)
	if err != nil {
		return err
	}
	text := "installed " + path
	if !changed {
		text = path + " is there already, plugin version " + lua.Version
	}
	_, err = fmt.Fprintf(s.out, `%s
Wireshark: reload Lua plugins with Ctrl+Shift+L, or start it anew.
tshark loads it by itself. Try the display filter: rdma.analysis.gap
`, text)
	return cli.WriteError(err)
}
