package report

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mldpbench/results"
)

// input is TEST DATA: invented numbers in the shape of a study.
func input() Input {
	in := Input{
		Runs: []Run{{
			Command:    []string{"/somewhere/mldp", "run", "my study.yaml", "--seed", "7"},
			Definition: "name: synthetic\n",
			Version:    "test",
		}},
	}
	for rep := range 3 {
		for _, m := range []string{results.BaselineMechanism, "cmp", "vickrey"} {
			for i, e := range []float64{1, 5, 10} {
				r := results.NewRecord()
				r.Study, r.Dataset, r.Generated, r.Status = "synthetic <test> data", "generated-reviews", true,
					results.StatusOK
				r.Embedding, r.Dimension, r.Model, r.Setting = "generated", 50, "svm", "local"
				r.Mechanism, r.Repetition, r.Seed = m, rep, 7
				r.TestTotal, r.TestCorrect = 1000, 600+100*i+7*rep
				if m == results.BaselineMechanism {
					if i > 0 {
						continue
					}
					r.TestCorrect = 900 + rep
				} else {
					r.Epsilon, r.Variant, r.GuaranteeMetric, r.GuaranteeEpsilon = results.Float(e), "proved",
						"euclidean", results.Float(e)
					r.NwRuns, r.NwUnchanged, r.SwWords, r.SwDistinct = 100, 10+30*i+rep, 1, 90-30*i
					r.EMMap = results.Float(0.9 - 0.3*float64(i))
				}
				if m == "vickrey" {
					r.Variant, r.GuaranteeMetric, r.GuaranteeEpsilon = "released", "", results.Missing
					r.GuaranteeReason = "test <reason>"
					r.TestCorrect -= 50
					if i == 2 {
						r.NwUnchanged = 97 + rep
					}
				}
				in.Records = append(in.Records, r)
			}
		}
	}
	derived, err := results.Derive(in.Records)
	if err != nil {
		panic(err) // invented records contradict themselves
	}
	in.Records = derived
	for _, e := range []float64{1, 5} {
		in.Examples = append(in.Examples, results.Example{
			Dataset: "generated-reviews", Embedding: "generated", Dimension: 50, Mechanism: "cmp", Variant: "proved",
			Epsilon:  e,
			Original: "a <b>good</b> film", Privatised: "a poor film",
		})
	}
	in.Audit = []results.AuditRow{{Mechanism: "cmp", Variant: "proved", Epsilon: 1, Promises: true, Lower: 0.5}}
	return in
}

func write(t *testing.T, in Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSelfContained(t *testing.T) {
	page := write(t, input())
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") && m[1] != "data:," {
			t.Errorf("the page refers to %q", m[1])
		}
	}
	if regexp.MustCompile(`@import|url\(`).MatchString(page) {
		t.Error("the style refers to a file")
	}
	if write(t, input()) != page {
		t.Error("two runs differ")
	}
}

func TestContent(t *testing.T) {
	page := write(t, input())
	for _, want := range []string{
		"synthetic &lt;test&gt; data", "Generated data.", "mldp run &#39;my study.yaml&#39; --seed 7",
		"no guarantee", "Test &lt;reason&gt;.", "a &lt;b&gt;good&lt;/b&gt; film",
		"<mark>a</mark> poor <mark>film</mark>",
		"<th scope=\"row\">Vickrey, released<span>†</span>",
		"at an adversary&#39;s error of at least 0.5, CMP keeps 70.7% accuracy", "changed nothing",
		`<g class="series" data-series="CMP">`,
		"Fewer than 5 repetitions", "Audit of claimed guarantees", "N<sub>w</sub>", `id="mechanism-cmp"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "/somewhere") {
		t.Error("the page tells where the binary lay")
	}
}

// TestStructure checks what keyboards and screen readers depend on.
func TestStructure(t *testing.T) {
	page := write(t, input())
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("id %q twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]*)"`).FindAllStringSubmatch(page, -1) {
		for _, id := range strings.Fields(m[1]) {
			if !ids[id] {
				t.Errorf("nothing has the id %q", id)
			}
		}
	}
	level := 0
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(page, -1) {
		n := int(m[1][0] - '0')
		if n > level+1 {
			t.Errorf("heading h%d follows h%d", n, level)
		}
		level = n
	}
	if n, m := strings.Count(page, "<svg"), strings.Count(page, `role="img"`); n != m || n == 0 {
		t.Errorf("%d drawings, %d marked as images", n, m)
	}
}

func TestNoRecords(t *testing.T) {
	if err := Write(&bytes.Buffer{}, Input{}); err == nil {
		t.Error("no error without records")
	}
}

// probe is run inside a frame of a phone's width, in a page around the report.
const probe = `<!doctype html><title>probe</title><body><iframe id="f" style="width:360px;height:700px;border:0" srcdoc="%s"></iframe>
<script>
var frame = document.getElementById("f");
frame.addEventListener("load", function () {
  var d = frame.contentDocument, out = [];
  if (!d.getElementById("cells")) return; // the empty page before srcdoc
  out.push("width=" + d.documentElement.scrollWidth);
  var table = d.getElementById("cells"), head = table.tHead.rows[0].cells, form = d.querySelector(".filters");
  var at = Array.prototype.findIndex.call(head, function (h) { return h.textContent.indexOf("accuracy") === 0; });
  var set = function (selector, value) { form.querySelector(selector).value = value; form.dispatchEvent(new Event("input")); };
  var read = function () { return Array.prototype.filter.call(table.tBodies[0].rows, function (r) { return !r.hidden; }).map(function (r) { return parseFloat(r.cells[at].textContent); }).join(","); };
  set('[data-filter="mechanism"]', "CMP");
  head[at].querySelector("button").click();
  out.push("up=" + read() + " " + head[at].getAttribute("aria-sort"));
  head[at].querySelector("button").click();
  out.push("down=" + read() + " " + head[at].getAttribute("aria-sort"));
  set('[data-filter="epsilon"]', "5");
  out.push("filtered=" + read());
  set('[data-filter="mechanism"]', "");
  set('[data-filter="epsilon"]', "");
  set("[data-search]", "vickrey");
  out.push("found=" + form.querySelector("output").textContent);
  form.querySelector("[data-idle]").click();
  out.push("idle=" + form.querySelector("output").textContent);
  var entry = d.querySelector("#fig-frontier-d50 .legend[role=button]"), series = entry.getAttribute("data-series");
  entry.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  var hidden = Array.prototype.filter.call(d.querySelectorAll("#fig-frontier-d50 .series"), function (g) { return g.style.display === "none"; });
  out.push("off=" + series + " " + hidden.length + " " + entry.getAttribute("aria-pressed"));
  out.push("downloads=" + Array.prototype.map.call(d.querySelectorAll("#fig-frontier-d50 .tools button"), function (b) { return b.textContent; }).join(","));
  var unreachable = Array.prototype.filter.call(d.querySelectorAll("button,a,summary"), function (e) { return e.tabIndex < 0; });
  out.push("unreachable=" + unreachable.length);
  d.querySelectorAll("details").forEach(function (x) { x.open = true; });
  out.push("open=" + d.documentElement.scrollWidth);
  document.body.setAttribute("data-probe", out.join("; "));
});
</script></body>`

// TestBrowser opens the page in headless Chromium, where it is installed.
func TestBrowser(t *testing.T) {
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
	if testing.Short() {
		t.Skip("starting a browser takes seconds")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "probe.html")
	if err := os.WriteFile(path, fmt.Appendf(nil, probe, html.EscapeString(write(t, input()))), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(chromium, "--headless", "--hide-scrollbars", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--virtual-time-budget=5000", "--dump-dom", "file://"+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	dom, err := cmd.Output()
	if err != nil {
		t.Skipf("Chromium does not start here: %v", err)
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the console is not empty: %s", line)
		}
	}
	m := regexp.MustCompile(`data-probe="([^"]*)"`).FindSubmatch(dom)
	if m == nil {
		t.Fatal("the probe did not run")
	}
	// CMP at ε = 1, 5, 10, means of three repetitions; Vickrey at ε = 10 changed
	// nothing.
	want := "width=360; up=60.7,70.7,80.7 ascending; down=80.7,70.7,60.7 descending; filtered=70.7; found=3 of 7 " +
		"rows; idle=2 of 7 rows; " +
		"off=best with a guarantee 1 false; downloads=SVG,PNG,CSV; unreachable=0; open=360"
	if got := html.UnescapeString(string(m[1])); got != want {
		t.Errorf("in the browser:\n got %s\nwant %s", got, want)
	}
}

// TestLook writes pictures of a page (desktop, phone, dark; the first screen
// and a filtered state) to the folder MLDP_LOOK for inspection: of page.html in
// it, or else of invented numbers. See make look.
func TestLook(t *testing.T) {
	dir := os.Getenv("MLDP_LOOK")
	chromium, err := exec.LookPath("chromium")
	if dir == "" || err != nil {
		t.Skip("set MLDP_LOOK to a folder, with Chromium installed, to get pictures of the page")
	}
	if _, err := os.Stat(filepath.Join(dir, "page.html")); err != nil {
		if err := os.WriteFile(filepath.Join(dir, "page.html"), []byte(write(t, input())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// One mechanism on the first data set, without rows that changed nothing,
	// best first.
	const filter = `var form=d.querySelector('.filters'),s=form.querySelector('[data-filter=dataset]');` +
		`s.selectedIndex=1;` +
		`form.querySelector('[data-idle]').checked=false;form.dispatchEvent(new Event('input'));` +
		`var head=Array.prototype.find.call(d.querySelectorAll('#cells thead th'),` +
		`function(h){return h.textContent.indexOf('accuracy')===0});` +
		`head.querySelector('button').click();head.querySelector('button').click();` +
		`d.getElementById('explore').scrollIntoView()`
	frame := func(name, width, then string) string {
		path := filepath.Join(dir, name+"-frame.html")
		page := `<!doctype html><body style="margin:0"><iframe id="f" src="page.html" style="width:` + width +
			`;height:1400px;border:0;display:block"></iframe><script>f.onload=function(){var d=f.contentDocument;` +
			then + `}</script>`
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	page := filepath.Join(dir, "page.html")
	const dark = "--blink-settings=preferredColorScheme=0"
	for _, shot := range []struct {
		name, page, width string
		flags             []string
	}{
		{"desktop", page, "1280", nil},
		{"desktop-filtered", frame("desktop", "1280px", filter), "1280", nil},
		{"dark", page, "1280", []string{dark}},
		{"dark-filtered", frame("dark", "1280px", filter), "1280", []string{dark}},
		{"phone", frame("phone", "375px", ""), "500", nil}, // windows cannot be narrower
		{"phone-filtered", frame("phone-filtered", "375px", filter), "500", nil},
	} {
		flags := append([]string{"--headless", "--hide-scrollbars", "--no-sandbox", "--disable-gpu", "--disable-quic",
			"--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--allow-file-access-from-files",
			"--user-data-dir=" + t.TempDir(), "--virtual-time-budget=5000",
			"--window-size=" + shot.width + ",1400", "--screenshot=" + filepath.Join(dir, shot.name+".png")},
			shot.flags...)
		if out, err := exec.Command(chromium, append(flags, "file://"+shot.page)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shot.name, err, out)
		}
	}
}

// ε are in numerical order, whatever the order of the records.
func TestEpsilonsInOrder(t *testing.T) {
	in := input()
	more := in.Records
	for i, e := range []float64{2, 2.5, 3, 3.5} {
		for _, r := range more {
			if r.Mechanism == "cmp" && r.Epsilon == 1 {
				r.Epsilon, r.Key = results.Float(e), fmt.Sprint(r.Key, i)
				in.Records = append([]results.Record{r}, in.Records...)
			}
		}
	}
	page := write(t, in)
	if want := `data-filter="epsilon"><option value="">all</option><option>1</option><option>2</option><option>2.5</option><option>3</option><option>3.5</option><option>5</option><option>10</option>`; !strings.Contains(page, want) {
		t.Errorf("no %s", want)
	}
}
