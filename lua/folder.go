package lua

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Place is what decides where a user's plugins are.
type Place struct {
	OS     string              // as runtime.GOOS names it
	Getenv func(string) string // the environment
	Home   string              // the user's home folder
}

// Folder is the folder from which Wireshark loads the user's Lua plugins
// (Wireshark User's Guide, appendix B.3): below WIRESHARK_CONFIG_DIR where that
// is set, else what tshark says, else the default of the system.
//
// tshark is the path of the program, "" where it is not installed.
func (p Place) Folder(tshark string) (string, error) {
	if dir := p.Getenv("WIRESHARK_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "plugins"), nil
	}
	if tshark != "" {
		if dir := askedFolder(tshark); dir != "" {
			return dir, nil
		}
	}
	if p.OS == "windows" {
		dir := p.Getenv("APPDATA")
		if dir == "" {
			return "", errors.New("APPDATA is not set")
		}
		return filepath.Join(dir, "Wireshark", "plugins"), nil
	}
	if p.Home == "" {
		return "", errors.New("the home folder is not known")
	}
	// An old configuration folder is kept for as long as the new one is not there.
	config := p.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(p.Home, ".config")
	}
	if !isFolder(filepath.Join(config, "wireshark")) {
		if old := filepath.Join(p.Home, ".wireshark", "plugins"); isFolder(old) {
			return old, nil
		}
	}
	return filepath.Join(p.Home, ".local", "lib", "wireshark", "plugins"), nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// askedFolder asks tshark for its folders. It is "" when tshark does not say.
func askedFolder(tshark string) string {
	out, err := exec.Command(tshark, "-G", "folders").Output()
	if err != nil {
		return ""
	}
	return folderIn(string(out))
}

// folderIn is the folder of personal Lua plugins in what tshark -G folders says:
// a name, a colon, and the folder.
func folderIn(out string) string {
	for line := range strings.Lines(out) {
		if name, dir, ok := strings.Cut(line, ":"); ok && name == "Personal Lua Plugins" {
			return strings.TrimSpace(dir)
		}
	}
	return ""
}

// ErrForeign is a file of the plugin's name that is not this plugin.
var ErrForeign = errors.New("not a plugin of rdmadump")

// Install writes the plugin into the folder, which is made if need be, and
// returns the file's path. An older version is replaced; changed is false where
// the same one was there already. A file that is not this plugin is left alone:
// the error is ErrForeign.
func Install(folder string) (path string, changed bool, err error) {
	path = filepath.Join(folder, FileName)
	old, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(old, Plugin):
		return path, false, nil
	case err == nil && !bytes.HasPrefix(old, source("head")):
		return path, false, fmt.Errorf("%s: %w", path, ErrForeign)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return path, false, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return path, false, err
	}
	// In one step, so that Wireshark never loads half of it.
	part, err := os.CreateTemp(folder, "."+FileName+"-*")
	if err != nil {
		return path, false, err
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone once it was renamed
	_, err = part.Write(Plugin)
	err = errors.Join(err, part.Chmod(0o644), part.Close())
	if err != nil {
		return path, false, err
	}
	return path, true, os.Rename(part.Name(), path)
}
