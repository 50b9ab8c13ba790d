package craft

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Lines reads objects, one a line. Empty lines are passed over.
type Lines struct {
	// Waiting, if not nil, is called before input is waited for: what was made of
	// the lines so far should be let out then.
	Waiting func()

	r    *bufio.Reader
	name string
	line int
	long []byte // a line that the reader's buffer does not hold
}

// maxLine bounds a line, and with it memory: that of the longest frame that a
// capture may hold has two digits a byte.
const maxLine = 3 * maxFrame

// NewLines reads from r; name stands for it in messages.
func NewLines(r io.Reader, name string) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), name: name}
}

// Next reads the next object. The error is io.EOF behind the last one, that of
// reading, or a fault with the line it is in.
func (l *Lines) Next() (Object, error) {
	for {
		line, err := l.read()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		o, err := Parse(line)
		if err != nil {
			return nil, l.Fault(err)
		}
		return o, nil
	}
}

// Fault says that an error is about the line read last.
func (l *Lines) Fault(err error) error { return fmt.Errorf("%s:%d: %w", l.name, l.line, err) }

// read reads a line.
func (l *Lines) read() ([]byte, error) {
	l.line++
	l.long = l.long[:0]
	for {
		if l.Waiting != nil && l.r.Buffered() == 0 {
			l.Waiting()
		}
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil || err == io.EOF && len(part)+len(l.long) > 0:
			if len(l.long) == 0 {
				return part, nil
			}
			return append(l.long, part...), nil
		case err == io.EOF:
			return nil, err
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("%s: %w", l.name, err)
		case len(l.long)+len(part) > maxLine:
			return nil, l.Fault(fmt.Errorf("more than %d bytes in a line", maxLine))
		}
		l.long = append(l.long, part...)
	}
}
