package capture

import "os"

// wholeFile is a file to which a write is whole or not at all, so that a capture
// ends behind a block even where the disk is full.
type wholeFile struct {
	*os.File
	size int64 // bytes written
}

func (f *wholeFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if err != nil {
		_ = f.Truncate(f.size) // what is no regular file has no size to restore
		return 0, err
	}
	f.size += int64(n)
	return n, nil
}
