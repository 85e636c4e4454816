package report

import (
	"bytes"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// browser returns a headless Chromium that shows a page, or skips the test.
func browser(t *testing.T) func(url string, flags ...string) (stdout, stderr []byte) {
	t.Helper()
	var chromium string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	if chromium == "" {
		t.Skip("no Chromium on this machine: the page is not tried in a browser")
	}
	return func(url string, flags ...string) ([]byte, []byte) {
		t.Helper()
		var err error
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

// probe opens the page in a frame of a phone's width, uses it, and loads the
// address that it then has again.
const probe = `<!doctype html><title>probe</title><body><iframe id="f" style="width:390px;height:844px;border:0" src="page.html"></iframe>
<script>
var frame = document.getElementById("f"), out = [], loads = 0;
frame.addEventListener("load", function () {
  var d = frame.contentDocument, w = frame.contentWindow;
  var all = function (s, root) { return Array.prototype.slice.call((root || d).querySelectorAll(s)); };
  var table = d.getElementById("cells"), head = all("thead th", table), form = d.querySelector("form[data-for=cells]");
  var at = head.findIndex(function (h) { return h.textContent.indexOf("accuracy") === 0; });
  var set = function (selector, value, type) { var e = d.querySelector(selector); e.value = value; e.dispatchEvent(new Event(type, { bubbles: true })); };
  var read = function () { return all("tbody tr", table).filter(function (r) { return !r.hidden; }).map(function (r) { return parseFloat(r.cells[at].textContent); }).join(","); };
  var panels = function () { return all("#figure figure").filter(function (f) { return !f.hidden; }).map(function (f) { return f.getAttribute("data-x"); }).join(","); };
  var on = function () { return all(".series.on").length + " " + all("#cells tr.on").length + " " + all("#answer tr.on").length + " " + d.body.className; };
  if (loads++ > 0) {
    out.push("again=" + panels() + " " + on() + " " + read());
    document.body.setAttribute("data-probe", out.join("; "));
    return;
  }
  out.push("width=" + d.documentElement.scrollWidth);
  out.push("closed=" + all("details[open]").length + " figure=" + panels());
  set('[data-filter="mechanism"]', "CMP", "input");
  head[at].querySelector("button").click();
  out.push("up=" + read() + " " + head[at].getAttribute("aria-sort"));
  head[at].querySelector("button").click();
  out.push("down=" + read() + " " + head[at].getAttribute("aria-sort"));
  set('[data-filter="mechanism"]', "", "input");
  set("[data-search]", "vickrey", "input");
  out.push("found=" + form.querySelector("output").textContent);
  form.querySelector("[data-idle]").click();
  out.push("idle=" + form.querySelector("output").textContent);
  set("[data-search]", "", "input");
  set('[data-filter="epsilon"]', "5", "input");
  set("[data-view=x]", "epsilon", "change");
  out.push("switched=" + panels());
  d.querySelector("[data-key=CMP]").click();
  out.push("on=" + on() + " " + d.querySelector("[data-key=CMP]").getAttribute("aria-pressed"));
  var svg = d.querySelector("#figure figure:not([hidden]) svg"), tip = d.querySelector(".tip");
  svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  out.push("key=" + tip.hidden + " " + tip.textContent);
  var box = svg.querySelector(".series.on .p").getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
  out.push("over=" + tip.querySelector("b").textContent);
  out.push("tools=" + all("#figure figure:not([hidden]) .tools button").map(function (b) { return b.textContent; }).join(","));
  out.push("unreachable=" + all("button,a,summary").filter(function (e) { return e.tabIndex < 0; }).length);
  all("details").forEach(function (e) { e.open = true; });
  out.push("open=" + d.documentElement.scrollWidth);
  out.push("address=" + w.location.hash);
  w.location.reload();
});
</script></body>`

// TestBrowser uses the page in a browser: sorts, filters, highlights, switches
// the axis, names points, and loads the address again.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starting a browser takes seconds")
	}
	open := browser(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"page.html": write(t, input(t)), "probe.html": probe} {
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
	// CMP at ε = 1, 5, 10, means of three repetitions; Vickrey at ε = 10 changed
	// nothing.
	want := "width=390; closed=0 figure=e_m; up=60.7,70.7,80.7 ascending; down=80.7,70.7,60.7 descending; " +
		"found=3 of 7 rows; idle=2 of 7 rows; switched=epsilon; " +
		"on=2 3 1 picked true; " + // two panels; rows of all cells and of the answer
		"key=false Vickrey, releasedaccuracy in % 65.7 (63.96 to 67.44) at privacy parameter ε 5; over=CMP; " +
		"tools=SVG,PNG,CSV; unreachable=0; open=390; " +
		"address=#idle=no&cells-epsilon=5&x=epsilon&pick=CMP; again=epsilon 2 3 1 picked 70.7,65.7"
	if got := html.UnescapeString(string(m[1])); got != want {
		t.Errorf("in the browser:\n got %s\nwant %s", got, want)
	}
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Log("no pdftotext: the printed page is not read")
		return
	}
	// In print there is all but the table to filter, with scripts or without, and
	// nothing is cut at the right.
	content, err := os.ReadFile(filepath.Join(dir, "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string][]byte{"scripts": content,
		"none": regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAll(content, nil)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".html", page, 0o644); err != nil {
			t.Fatal(err)
		}
		open(path+".html", "--no-pdf-header-footer", "--print-to-pdf="+path+".pdf")
		text, err := exec.Command("pdftotext", "-layout", path+".pdf", "-").Output()
		if err != nil {
			t.Fatal(err)
		}
		for want, printed := range map[string]bool{"Which of 2 mechanisms": true, "not privatised": true,
			"Audit of claimed guarantees": true, "mldp run": true, "Lower bounds on the true": true, "changed nothing": false} {
			if strings.Contains(string(text), want) != printed {
				t.Errorf("%s: in print there is %q: %v, want %v", name, want, !printed, printed)
			}
		}
		boxes, err := exec.Command("pdftotext", "-bbox", path+".pdf", "-").Output()
		if err != nil {
			t.Fatal(err)
		}
		ends := regexp.MustCompile(`xMax="([\d.]+)"`).FindAllSubmatch(boxes, -1)
		for _, m := range ends { // A4 landscape is 841.9 points wide, with margins of 34
			if end, err := strconv.ParseFloat(string(m[1]), 64); err != nil || end > 842-30 {
				t.Errorf("%s: a word of the print ends at %s points (%v)", name, m[1], err)
			}
		}
		if len(ends) == 0 {
			t.Errorf("%s: no words in %s", name, boxes)
		}
	}
}

// TestLook writes pictures of a page (desktop, phone, dark, print; the first
// screen and a filtered, highlighted state) to the folder MLDP_LOOK: of
// page.html in it, or else of invented numbers. See make look.
func TestLook(t *testing.T) {
	dir := os.Getenv("MLDP_LOOK")
	if dir == "" {
		t.Skip("set MLDP_LOOK to a folder, with Chromium installed, to get pictures of the page")
	}
	open := browser(t)
	page := filepath.Join(dir, "page.html")
	content, err := os.ReadFile(page)
	if err != nil {
		content = []byte(write(t, input(t)))
		if err := os.WriteFile(page, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	state := "#x=epsilon"
	for i, m := range regexp.MustCompile(`data-key="([^"]*)"`).FindAllSubmatch(content, 3) {
		if i != 1 {
			state += "&pick=" + strings.ReplaceAll(html.UnescapeString(string(m[1])), " ", "+")
		}
	}
	const dark = "--blink-settings=preferredColorScheme=0"
	for _, shot := range []struct {
		name, state, size string
		flags             []string
	}{
		{"desktop", "", "1280,900", nil}, {"desktop-picked", state, "1280,900", nil},
		{"dark", "", "1280,900", []string{dark}}, {"dark-picked", state, "1280,900", []string{dark}},
		{"phone", "", "390,844", nil}, {"phone-picked", state, "390,844", nil},
	} {
		url := page + shot.state
		if strings.HasPrefix(shot.name, "phone") { // windows cannot be as narrow as a phone
			url = filepath.Join(dir, shot.name+"-frame.html")
			frame := `<!doctype html><body style="margin:0"><iframe src="page.html` + html.EscapeString(shot.state) +
				`" style="width:390px;height:844px;border:0;display:block"></iframe>`
			if err := os.WriteFile(url, []byte(frame), 0o644); err != nil {
				t.Fatal(err)
			}
			shot.size = "500,844"
		}
		open(url, append(shot.flags, "--window-size="+shot.size, "--screenshot="+filepath.Join(dir, shot.name+".png"))...)
	}
	open(page, "--no-pdf-header-footer", "--print-to-pdf="+filepath.Join(dir, "print.pdf"))
}
