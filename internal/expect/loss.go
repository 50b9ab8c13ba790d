package expect

import (
	"fmt"
	"maps"
	"slices"
)

// identity are the keys that say which stream is meant.
var identity = []string{"src", "dst", "destqp", "kind"}

// CheckLoss compares the object that `loss --json` printed, nil if none was,
// and its exit status. It returns the first difference.
func (c *Case) CheckLoss(out Object, exit int, stderr string) error {
	streams := flatten(out)
	if c.refused(c.Loss, exit, stderr, len(streams)) {
		return nil
	}
	if err := checkExit(c.Loss, exit, stderr); err != nil {
		return err
	}
	if out == nil {
		if exit == 1 && c.Loss["streams"] == nil && c.Loss["captures"] == nil && c.Loss["totals"] == nil {
			return nil
		}
		return fmt.Errorf("nothing was printed")
	}
	if want, has := c.Loss["captures"]; has {
		if err := compare(want, out["captures"].([]any)[0], true, "captures"); err != nil {
			return err
		}
	}
	for _, s := range streams {
		if err := addsUp(s); err != nil {
			return err
		}
	}
	for _, want := range objects(c.Loss["streams"]) {
		if err := checkStream(want, streams); err != nil {
			return err
		}
	}
	words, _ := c.Loss["findings_anywhere"].([]any)
	for _, word := range words {
		if !slices.ContainsFunc(streams, func(s Object) bool {
			findings, _ := s["findings"].([]any)
			return hasFinding(findings, word.(string))
		}) {
			return fmt.Errorf("no stream has the finding %v", word)
		}
	}
	if want, has := c.Loss["totals"]; has {
		return compare(want, out["totals"], true, "totals")
	}
	return nil
}

// flatten lists all streams, each with its connection and the QPN of the end
// that sends it.
func flatten(out Object) []Object {
	var all []Object
	for _, conn := range objects(out["connections"]) {
		rest := maps.Clone(conn)
		delete(rest, "streams")
		for _, s := range objects(conn["streams"]) {
			s["connection"] = rest
			for _, end := range []string{"a", "b"} {
				e, _ := conn[end].(Object)
				if e != nil && e["address"] == s["src"] {
					s["src_qpn"] = e["qpn"]
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// addsUp checks that causes and verdicts account for every retransmission.
func addsUp(s Object) error {
	packets, _ := get(s, "retransmitted.packets")
	for _, key := range []string{"retransmitted.by_cause", "retransmitted.by_verdict"} {
		parts, has := get(s, key)
		if !has {
			continue
		}
		var sum float64
		for _, n := range parts.(Object) {
			sum += n.(float64)
		}
		if sum != packets {
			return fmt.Errorf("%s: %s adds up to %v, not to %v", name(s), key, sum, packets)
		}
	}
	return nil
}

func name(s Object) string {
	return fmt.Sprintf("stream %v > %v %v %v", s["src"], s["dst"], s["destqp"], s["kind"])
}

// checkStream finds the stream that is meant. Of several, one must fit.
func checkStream(want Object, streams []Object) error {
	problem := fmt.Errorf("no %s in the output", name(want))
	for _, s := range slices.Backward(streams) {
		if slices.ContainsFunc(identity, func(k string) bool { return want[k] != nil && want[k] != s[k] }) {
			continue
		}
		if problem = compareStream(want, s); problem == nil {
			return nil
		}
	}
	return problem
}

func compareStream(want, s Object) error {
	gaps, _ := s["gaps"].([]any)
	if exact, _ := want["gaps_exact"].(bool); exact && len(gaps) != len(objects(want["gaps"])) {
		return fmt.Errorf("%s: %d gaps, expected %d", name(want), len(gaps), len(objects(want["gaps"])))
	}
	for key, value := range want {
		if key == "gaps_exact" || slices.Contains(identity, key) {
			continue
		}
		have, ok := get(s, key)
		if err := compare(value, have, ok, name(want)+": "+key); err != nil {
			return err
		}
	}
	return nil
}
