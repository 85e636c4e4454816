package report

import (
	"bytes"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mldpbench/internal/records"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// browser returns a headless Chromium that shows a page, or skips the test.
func browser(t *testing.T) func(url string, flags ...string) (stdout, stderr []byte) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no Chromium on this machine: the page is not tried in a browser")
	}
	return func(url string, flags ...string) ([]byte, []byte) {
		t.Helper()
		for range 3 { // it crashes at the start now and then on a small machine
			cmd := exec.Command(chromium, append([]string{"--headless", "--hide-scrollbars", "--no-sandbox", "--disable-gpu",
				"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
				"--disable-sync", "--enable-logging=stderr", "--allow-file-access-from-files", "--user-data-dir=" + t.TempDir(),
				"--virtual-time-budget=8000"}, append(flags, "file://"+url)...)...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, 5*time.Second
			if err = cmd.Run(); err == nil {
				return stdout.Bytes(), stderr.Bytes()
			}
		}
		t.Skipf("Chromium does not start here: %v", err)
		return nil, nil
	}
}

// probe opens the page in a frame of a phone's width, and highlights a mechanism.
const probe = `<!doctype html><title>probe</title><body><iframe id="f" style="width:390px;height:844px;border:0" src="page.html"></iframe>
<script>
document.getElementById("f").addEventListener("load", function () {
  var d = this.contentDocument, out = [];
  var all = function (s) { return Array.prototype.slice.call(d.querySelectorAll(s)); };
  var table = d.querySelector("#answer table");
  out.push("width=" + d.documentElement.scrollWidth);
  out.push("table=" + (table.getBoundingClientRect().right <= 390));
  out.push("first=" + (table.getBoundingClientRect().top < d.querySelector("figure").getBoundingClientRect().top));
  out.push("open=" + all("details[open]").length);
  var key = d.querySelector("button[data-s=CMP]");
  key.click();
  out.push("on=" + all("g.series.on").length + " " + all("#answer tr.on").length + " " + d.body.className + " " + key.getAttribute("aria-pressed"));
  key.click();
  out.push("off=" + all(".on").length + " " + d.body.className);
  out.push("unreachable=" + all("button,a,summary").filter(function (e) { return e.tabIndex < 0; }).length);
  all("details").forEach(function (e) { e.open = true; });
  out.push("all=" + d.documentElement.scrollWidth);
  document.body.setAttribute("data-probe", out.join("; "));
});
</script></body>`

// TestBrowser looks at the page as a phone does, highlights a mechanism, and prints.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starting a browser takes seconds")
	}
	open := browser(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"page.html": write(t, input(t)), "probe.html": probe,
		"large.html": write(t, Input{Analysis: analysis.Of(records.View(t, "extended"), quantity.Levels{})})} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dom, stderr := open(filepath.Join(dir, "probe.html"), "--dump-dom")
	for line := range strings.Lines(string(stderr)) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the console is not empty: %s", line)
		}
	}
	m := regexp.MustCompile(`data-probe="([^"]*)"`).FindSubmatch(dom)
	if m == nil {
		t.Fatalf("the probe did not run: %s", stderr)
	}
	want := "width=390; table=true; first=true; open=0; on=7 1 picked true; off=0 ; unreachable=0; all=390"
	if got := regexp.MustCompile(`on=[1-9]\d* `).ReplaceAllString(html.UnescapeString(string(m[1])), "on=7 "); got != want {
		t.Errorf("in the browser:\n got %s\nwant %s", got, want)
	}
	pdf := filepath.Join(dir, "large.pdf")
	open(filepath.Join(dir, "large.html"), "--no-pdf-header-footer", "--print-to-pdf="+pdf)
	printed, err := os.ReadFile(pdf)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(regexp.MustCompile(`/Type\s*/Page[^s]`).FindAll(printed, -1)); n < 1 || n > 12 {
		t.Errorf("%d pages in print", n)
	}
}
