package main

import "runtime/debug"

// version is set by the Makefile; a plain `go install` falls back to the
// module version.
var version = ""

func mldpVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
