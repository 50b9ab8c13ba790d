package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// EndSignals are the signals that end a command well: SIGTERM, and SIGINT and SIGHUP
// unless the program was started with them ignored, as a shell does with what a
// script runs in the background, and nohup.
func EndSignals() []os.Signal {
	all := []os.Signal{syscall.SIGTERM}
	for _, s := range [...]os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}
