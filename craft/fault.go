package craft

import "fmt"

// Fault is a key that makes no frame.
type Fault struct {
	Key string // "bth.psn"; empty where the line as a whole is at fault
	Msg string // what is wrong with it, and what would be right
}

// Error gives "bth.psn: 16777216: want 0 to 16777215".
func (f *Fault) Error() string {
	if f.Key == "" {
		return f.Msg
	}
	return f.Key + ": " + f.Msg
}

func fault(key, format string, args ...any) error {
	return &Fault{Key: key, Msg: fmt.Sprintf(format, args...)}
}
