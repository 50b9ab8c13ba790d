package lua

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFolder(t *testing.T) {
	home := t.TempDir()
	old := t.TempDir()
	os.MkdirAll(filepath.Join(old, ".wireshark", "plugins"), 0o755)
	for _, c := range []struct {
		name  string
		place Place
		env   map[string]string
		want  string
	}{
		{"linux", Place{OS: "linux", Home: home}, nil, home + "/.local/lib/wireshark/plugins"},
		{"macos", Place{OS: "darwin", Home: home}, nil, home + "/.local/lib/wireshark/plugins"},
		{"windows", Place{OS: "windows", Home: home}, map[string]string{"APPDATA": "/roaming"}, "/roaming/Wireshark/plugins"},
		{"stated", Place{OS: "linux", Home: home}, map[string]string{"WIRESHARK_CONFIG_DIR": "/config"}, "/config/plugins"},
		{"old folder", Place{OS: "linux", Home: old}, nil, old + "/.wireshark/plugins"},
		{"no home", Place{OS: "linux"}, nil, ""},
		{"no APPDATA", Place{OS: "windows", Home: home}, nil, ""},
	} {
		c.place.Getenv = func(name string) string { return c.env[name] }
		got, err := c.place.Folder("")
		if got != filepath.FromSlash(c.want) || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// What tshark 4.0 says, with tabs, and a folder of Windows, with a colon of its own.
func TestFolderIn(t *testing.T) {
	const out = "Temp:                \t/tmp\nPersonal Plugins:    \t/home/me/.local/lib/wireshark/plugins/4.0\n" +
		"Personal Lua Plugins:\t/home/me/.local/lib/wireshark/plugins\nGlobal Lua Plugins:  \t/usr/lib/wireshark/plugins\n"
	if got := folderIn(out); got != "/home/me/.local/lib/wireshark/plugins" {
		t.Errorf("%q", got)
	}
	if got := folderIn("Personal Lua Plugins:\tC:\\Users\\me\\Wireshark\\plugins\r\n"); got != `C:\Users\me\Wireshark\plugins` {
		t.Errorf("%q", got)
	}
	if got := folderIn("nothing\n"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestInstall(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "plugins")
	path, changed, err := Install(folder)
	if err != nil || !changed {
		t.Fatalf("%v, changed %v", err, changed)
	}
	if b, _ := os.ReadFile(path); string(b) != string(Plugin) {
		t.Error("it is not the plugin that was written")
	}
	if _, changed, err := Install(folder); err != nil || changed {
		t.Errorf("again: %v, changed %v", err, changed)
	}
	older := append(source("head"), "-- version 0\n"...)
	os.WriteFile(path, older, 0o644)
	if _, changed, err := Install(folder); err != nil || !changed {
		t.Errorf("over an older one: %v, changed %v", err, changed)
	}
	os.WriteFile(path, []byte("-- mine\n"), 0o644)
	if _, _, err := Install(folder); !errors.Is(err, ErrForeign) {
		t.Errorf("over a foreign file: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "-- mine\n" {
		t.Error("a foreign file was changed")
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
}
