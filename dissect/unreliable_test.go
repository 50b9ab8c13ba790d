package dissect

import "testing"

// UC sends nothing again: there is no recovery to name.
func TestUnreliableConnectionHasNoTransport(t *testing.T) {
	for story, want := range map[string]string{"u1 u2 u4 u5": "none", "w1 w2 w3! a3": "go-back-n"} {
		if got := tell(t, Config{}, story).Connections[0].Transport; got != want {
			t.Errorf("%s: %s, want %s", story, got, want)
		}
	}
}
