package report

import (
	"path"
	"regexp"
	"strings"
)

var (
	// secret is a name that says that its value is one, as a flag, a variable or a
	// key: --api-key=…, TOKEN=…, password: ….
	secret = regexp.MustCompile(`(?i)([\w-]*(?:api[-_]?key|token|secret|passw(?:or)?d|credential|auth)[\w-]*)` +
		`(\s*[=:]\s*|\s+)("[^"]*"|'[^']*'|[^\s"',\]]+)`)
	// bearer is a key by its form.
	bearer = regexp.MustCompile(`\b(?:sk|pk|ghp|hf|xox[bp])[-_][A-Za-z0-9_-]{8,}`)
	// rooted is an absolute path, or one below a home folder.
	rooted = regexp.MustCompile(`(^|[\s='":,\[(])((?:~|[A-Za-z]:)?(?:[/\\][^\s/\\'",;:\])]+)+[/\\]?)`)
)

// Secret returns the flag or variable of a command line that is given a secret as
// it stands, or "".
func Secret(command []string) string {
	for _, m := range secret.FindAllStringSubmatch(strings.Join(command, " "), -1) {
		if !strings.HasPrefix(m[3], "${") {
			return m[1]
		}
	}
	return ""
}

// redact removes secrets and the folders of absolute paths from what a page
// publishes.
func redact(s string) string {
	s = secret.ReplaceAllString(s, "$1$2…")
	s = bearer.ReplaceAllString(s, "…")
	return rooted.ReplaceAllStringFunc(s, func(match string) string {
		m := rooted.FindStringSubmatch(match)
		return m[1] + "…/" + path.Base(strings.ReplaceAll(m[2], `\`, "/"))
	})
}

// shell quotes a command line for pasting into a shell.
func shell(command []string) string {
	var out []string
	for i, a := range command {
		switch {
		case i == 0:
			a = "mldp" // without the path of the binary
		default:
			a = redact(a)
		}
		if a == "" || strings.ContainsAny(a, " \t\n'\"$`\\*?[]{}()<>|&;#~!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return redact(strings.Join(out, " "))
}
