package expect

import (
	"fmt"
	"slices"
)

// short are the keys of a frame that mean a field of the BTH.
var short = map[string]string{"opcode": "bth.opcode", "destqp": "bth.destqp", "psn": "bth.psn"}

// CheckRead compares the objects that `read --json` printed and its exit
// status. It returns the first difference.
func (c *Case) CheckRead(lines []Object, exit int, stderr string) error {
	if c.refused(c.Read, exit, stderr, len(lines)) {
		return nil
	}
	if err := checkExit(c.Read, exit, stderr); err != nil {
		return err
	}
	frames := map[float64]Object{}
	for _, line := range lines {
		frames[line["frame"].(float64)] = line
	}
	if len(frames) != len(lines) {
		return fmt.Errorf("a frame is printed twice: %d lines for %d frames", len(lines), len(frames))
	}
	if n, has := c.Read["count"].(float64); has && len(lines) != int(n) {
		return fmt.Errorf("%d lines printed, expected %v", len(lines), n)
	}
	wanted := objects(c.Read["frames"])
	if exact, _ := c.Read["exact_frames"].(bool); exact && len(lines) != len(wanted) {
		return fmt.Errorf("%d frames printed, expected %d", len(lines), len(wanted))
	}
	for _, n := range numbers(c.Read["absent"]) {
		if _, printed := frames[n]; printed {
			return fmt.Errorf("frame %v is printed", n)
		}
	}
	for _, n := range numbers(c.Read["error_frames"]) {
		message, ok := get(frames[n], "error")
		if err := compare("<any>", message, ok, fmt.Sprintf("frame %v: error", n)); err != nil {
			return err
		}
	}
	for _, w := range wanted {
		if _, printed := frames[w["frame"].(float64)]; !printed {
			return fmt.Errorf("frame %v is not printed", w["frame"])
		}
	}
	for _, w := range slices.Concat(wanted, objects(c.Read["if_printed"])) {
		line, printed := frames[w["frame"].(float64)]
		if !printed {
			continue
		}
		for key, value := range w {
			if long, has := short[key]; has {
				key = long
			}
			have, ok := get(line, key)
			if err := compare(value, have, ok, fmt.Sprintf("frame %v: %s", w["frame"], key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// refused reports whether a capture that may be refused was.
func (c *Case) refused(want Object, exit int, stderr string, printed int) bool {
	may, _ := want["may_refuse"].(bool)
	return may && exit == 1 && stderr != "" && printed == 0
}

func checkExit(want Object, exit int, stderr string) error {
	allowed := numbers(want["exit"])
	if n, single := want["exit"].(float64); single {
		allowed = []float64{n}
	}
	if !slices.Contains(allowed, float64(exit)) {
		return fmt.Errorf("exit status %d, expected %v (%s)", exit, allowed, stderr)
	}
	if exit == 1 && stderr == "" {
		return fmt.Errorf("exit status 1 without a message")
	}
	return nil
}

func objects(v any) []Object {
	var all []Object
	list, _ := v.([]any)
	for _, o := range list {
		all = append(all, o.(Object))
	}
	return all
}

func numbers(v any) []float64 {
	var all []float64
	list, _ := v.([]any)
	for _, n := range list {
		all = append(all, n.(float64))
	}
	return all
}
