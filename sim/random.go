package sim

import (
	"hash/fnv"
	"math/rand/v2"
)

// random is the source of the choices of one purpose. Purposes do not share a
// source, so that one more choice here changes nothing there.
func (s *Scenario) random(purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}
