package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version says what this binary was built from: version, commit, Go.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionText(info)
}

// Release is the version alone.
func Release() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func versionText(info *debug.BuildInfo) string {
	version, commit, dirty := info.Main.Version, "", ""
	if version == "" {
		version = "(devel)"
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = ", modified"
		}
	}
	if commit == "" {
		commit = "unknown"
	}
	return fmt.Sprintf("%s, commit %s%s, %s %s/%s", version, commit, dirty, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
