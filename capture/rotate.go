package capture

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// Rotate says when a Writer begins a new file, and how many it keeps. The zero
// value is one file without end.
type Rotate struct {
	Size  int64         // bytes of a file as it is on disk, approximately; 0 is no limit
	Every time.Duration // from the first frame of a file on, in times of frames; 0 is no limit
	Files int           // files of its own that a Writer keeps, the newest; 0 is all
}

// Wanted reports whether there are to be several files.
func (r Rotate) Wanted() bool { return r.Size > 0 || r.Every > 0 }

// turns is what a Writer knows of the files that it has written.
type turns struct {
	Rotate
	pattern string
	options WriterOptions
	number  int // of the file being written
	begun   int64
	kept    []string
}

// begunFile reports whether there is anything to write to: the first of a row of
// files comes with the first frame.
func (w *Writer) begunFile() bool { return w.dst != nil }

// due reports whether a frame of this time belongs into a new file.
func (w *Writer) due(time int64) bool {
	t := w.turns
	return t.number == 0 || t.Size > 0 && w.file.size+int64(len(w.buf)) >= t.Size ||
		t.Every > 0 && time-t.begun >= int64(t.Every)
}

// turn ends the file that is being written and begins the next one.
func (w *Writer) turn(f *dissect.Frame) {
	t := w.turns
	if t.number > 0 {
		w.finish()
	}
	if w.err != nil {
		return
	}
	t.number, t.begun = t.number+1, f.Time
	next, err := createOne(numbered(t.pattern, t.number, f.Time), t.options)
	if err != nil {
		w.keep(err)
		return
	}
	next.turns = t
	*w = *next
	t.kept = append(t.kept, w.name)
	if t.Files > 0 && len(t.kept) > t.Files {
		if err := os.Remove(t.kept[0]); err != nil && !os.IsNotExist(err) {
			w.keep(fileError(t.kept[0], err))
		}
		t.kept = t.kept[1:]
	}
}

// numbered is the name of the n-th file, whose first frame came at a time, in
// nanoseconds since 1970: "trace.pcapng.gz" becomes
// "trace_00001_20261130155106.pcapng.gz".
func numbered(pattern string, n int, at int64) string {
	dir, base := filepath.Split(pattern)
	end := ""
	switch ext := filepath.Ext(base); strings.ToLower(ext) {
	case ".gz", ".zst":
		base, end = strings.TrimSuffix(base, ext), ext
	}
	if ext := filepath.Ext(base); ext != base {
		base, end = strings.TrimSuffix(base, ext), ext+end
	}
	return dir + fmt.Sprintf("%s_%05d_%s%s", base, n, time.Unix(0, at).UTC().Format("20060102150405"), end)
}

// directory makes sure that files can be made beside pattern, before there is
// anything to write.
func directory(pattern string) error {
	dir := filepath.Dir(pattern)
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fileError(dir, err)
	}
	return nil
}
