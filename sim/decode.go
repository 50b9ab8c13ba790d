package sim

// Decode fills the struct that v points to from YAML, by the yaml tags of its
// fields and as strictly as Parse. name stands for the text in messages. check,
// if not nil, is then asked what makes no sense. The error is a *Fault, with the
// line of its key.
func Decode(text []byte, name string, v any, check func() *Fault) error {
	p := parse{lines: map[string]int{}}
	f := p.document(text, v)
	if f == nil && check != nil {
		f = check()
	}
	if f == nil {
		return nil
	}
	f.File = name
	for key := f.Key; f.Line == 0 && key != ""; key = parent(key) {
		f.Line = p.lines[key]
	}
	return f
}
