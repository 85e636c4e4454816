package report

import (
	"path"
	"regexp"
	"strings"
)

var (
	// secret is a name whose value is one, as a flag, a variable or a key: --api-key=…,
	// TOKEN=…, password: …; not max_tokens or --author.
	secret = regexp.MustCompile(`(?i)(?:^|[\s"'\[,{])-{0,2}((?:\w+[-_])*(?:api[-_]?key|token|secret|passwd|password|` +
		`credentials?|auth))["']?(?:\s*[=:,]\s*|\s+)(["']?)([^\s"',\]}]+)`)
	// bearer is a key by its form.
	bearer = regexp.MustCompile(`\b(?:sk|pk|ghp|hf|xox[bp])[-_][A-Za-z0-9_-]{8,}`)
	// rooted is an absolute path, or one below a home folder.
	rooted = regexp.MustCompile(`(^|[\s='":,\[(])((?:~|[A-Za-z]:)?(?:[/\\][^\s/\\'",;:\])]+)+[/\\]?)`)
)

// secretIn names what a text gives away, "" for nothing. Such a text is not written
// at all: half of it would not run, and what is left out might not be all. A
// reference to the environment, as in $NAME, is no secret.
func secretIn(text string) string {
	for _, m := range secret.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[3], "$") {
			return m[1]
		}
	}
	if bearer.MatchString(text) {
		return "a key"
	}
	return ""
}

// portable leaves the folders of absolute paths out.
func portable(s string) string {
	return rooted.ReplaceAllStringFunc(s, func(match string) string {
		m := rooted.FindStringSubmatch(match)
		return m[1] + "…/" + path.Base(strings.ReplaceAll(m[2], `\`, "/"))
	})
}

// shell quotes a command line for pasting into a shell.
func shell(command []string) string {
	var out []string
	for i, a := range command {
		word := portable(a)
		if i == 0 {
			word = "mldp" // without the path of the binary
		}
		if word == "" || strings.ContainsAny(word, " \t\n'\"$`\\*?[]{}()<>|&;#~!") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}
