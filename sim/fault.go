package sim

import "fmt"

// Fault is what is wrong with a scenario.
type Fault struct {
	File string // empty where the scenario was not read
	Line int    // 0 where the key does not stand in the file
	Key  string // the whole of it: "links[0].there.loss[1].p"
	Msg  string
}

// Error gives "lossy.yaml:12: links[0].delay: want a duration such as 10us".
func (f *Fault) Error() string {
	text := f.Msg
	if f.Key != "" {
		text = f.Key + ": " + text
	}
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, text)
	case f.File != "":
		return f.File + ": " + text
	}
	return text
}

func fault(key, format string, args ...any) *Fault {
	return &Fault{Key: key, Msg: fmt.Sprintf(format, args...)}
}
