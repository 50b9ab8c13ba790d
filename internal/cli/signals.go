package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// EndSignals are the signals that end a command well: SIGTERM, and SIGINT unless
// the program was started with that ignored, as a shell does with what a script
// runs in the background.
func EndSignals() []os.Signal {
	if signal.Ignored(os.Interrupt) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, os.Interrupt}
}
