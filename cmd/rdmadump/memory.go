package main

import (
	"math"
	"os"
	"runtime/debug"
)

// enoughMemory is where the collector begins to work harder, at the default of
// --max-halves.
const enoughMemory = 400 << 20

// holdMemory keeps garbage from doubling what the analysis holds of n halves, 0
// for the default. GOMEMLIMIT, where it is set, is stronger.
func holdMemory(n int) {
	const halves = 1 << 17
	if os.Getenv("GOMEMLIMIT") == "" && n < math.MaxInt64/enoughMemory {
		debug.SetMemoryLimit(enoughMemory * int64(max(n, halves)) / halves)
	}
}
