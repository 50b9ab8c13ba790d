package capture

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Create begins a capture file, compressed where its name ends in .gz or .zst, in
// whatever case. A file that is there already is overwritten. The error is an
// *Error.
//
// With o.Rotate name is that of files that have a number and the time of their
// first frame in their names, and the first is created with its first frame.
func Create(name string, o WriterOptions) (*Writer, error) {
	if !o.Rotate.Wanted() {
		return createOne(name, o)
	}
	if err := directory(name); err != nil {
		return nil, err
	}
	return &Writer{name: name, turns: &turns{Rotate: o.Rotate, pattern: name, options: o}}, nil
}

func createOne(name string, o WriterOptions) (*Writer, error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	w, err := newFileWriter(&wholeFile{File: file}, name, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	return w, nil
}

func newFileWriter(file *wholeFile, name string, o WriterOptions) (*Writer, error) {
	var dst io.Writer = file
	var packed compressor
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		packed = gzip.NewWriter(file)
	case ".zst":
		encoder, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, fileError(name, err)
		}
		packed = encoder
	}
	if packed != nil {
		dst = packed
	}
	w, err := NewWriter(dst, name, o)
	if err != nil {
		return nil, err
	}
	w.compressor, w.file = packed, file
	return w, nil
}
