package submit

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/experiments/task"
	"mldpbench/mechanisms/audit"
	"mldpbench/models/attack"
	"mldpbench/results"
)

// States of a package on a board.
const (
	Claimed    = "claimed"    // nobody computed its numbers again
	Recomputed = "recomputed" // all of them were computed again
	Attacked   = "attacked"   // somebody's stronger attacker lowered its privacy
	Refuted    = "refuted"    // an audit refuted what it promises
)

// Checked is a package whose files, card, task, study and rows fit.
type Checked struct {
	*Package
	Card  *Card      // nil of an artifact
	Of    *task.Task // nil of an artifact
	Run   results.Run
	Study *study.Study // texts are paths in Dir
	Dir   string       // where it was unpacked
	Items int
	// Digest identifies the package: it changes with every byte of every file.
	Digest string
}

// Check unpacks a package into an empty folder and checks everything that needs
// no data. A reason to refuse it is a *Refusal.
func Check(name, dir string) (*Checked, error) {
	p, err := open(name, dir)
	if err != nil {
		return nil, err
	}
	list, err := digest(filepath.Join(dir, contents))
	if err != nil {
		return nil, err
	}
	c := &Checked{Package: p, Dir: dir, Digest: list.SHA256}
	definition, err := os.ReadFile(filepath.Join(dir, studyFile))
	if err != nil {
		return nil, refuse("there is no %s", studyFile)
	}
	if err := checkPaths(studyFile, definition); err != nil {
		return nil, err
	}
	if c.Study, err = study.Parse(studyFile, definition); err != nil {
		return nil, asRefusal(err)
	}
	if err := c.checkMechanisms(); err != nil {
		return nil, err
	}
	if p.Kind == Submission {
		if err := c.checkTask(); err != nil {
			return nil, err
		}
	}
	if err := c.checkRows(); err != nil {
		return nil, err
	}
	c.Run.Name, c.Run.Definition, c.Run.Version, c.Run.Machine, c.Run.Title = p.Study, string(definition), p.Version,
		p.Machine, c.Study.Title
	return c, nil
}

// checkPaths refuses a study or task that names a file by a path from the root or
// upwards, before it is parsed, which may open vectors for their dimension. Other
// names are looked up in the data folder and in the current folder, which is empty
// where mldp verify reads it.
func checkPaths(name string, data []byte) error {
	for _, t := range lexer.Tokenize(string(data)) {
		slashes := strings.ReplaceAll(t.Value, `\`, "/")
		switch {
		case t.Type == token.CommentType:
		case t.Type == token.TagType:
			return refuse("%s:%d: %s: no tags: one can hide a path", name, t.Position.Line, t.Value)
		case strings.HasPrefix(slashes, "/"), filepath.IsAbs(t.Value), slices.Contains(strings.Split(slashes, "/"), ".."):
			return refuse("%s:%d: %q is no name in the package or the data folder: nothing else is opened", name,
				t.Position.Line, t.Value)
		}
	}
	return nil
}

// checkMechanisms lets nothing be executed, and no text be read that is not in
// the package.
func (c *Checked) checkMechanisms() error {
	used := map[string]bool{}
	for i, part := range c.Study.Parts() {
		if all := part.Commands(); len(all) > 0 {
			return refuse("%s is a command: a package holds texts, nothing to execute", all[0])
		}
		for _, m := range part.Mechanisms {
			if m.Text != "" && len(c.Study.Scenes) > 0 && len(c.Study.Scenes[i].Mechanisms) > 0 {
				return refuse("%s: text in a scene: give it to the mechanisms of the study", m.Name)
			}
		}
	}
	for i := range c.Study.Mechanisms {
		m := &c.Study.Mechanisms[i]
		if m.Text == "" {
			continue
		}
		if !strings.HasPrefix(m.Text, texts+"/") { // and not upwards: checkPaths
			return refuse("%s: text = %q is not in the package", m.Name, m.Text)
		}
		if used[m.Text] = true; !c.has(m.Text) {
			return refuse("%s: %s is missing", m.Name, m.Text)
		}
	}
	for name := range c.Files {
		if rest, ok := strings.CutPrefix(name, texts+"/"); ok {
			top, _, _ := strings.Cut(rest, "/")
			if !used[texts+"/"+top] {
				return refuse("%s: no mechanism of the study has this text", name)
			}
		}
	}
	return nil
}

// has reports whether a file or folder is in the list.
func (c *Checked) has(name string) bool {
	for file := range c.Files {
		if file == name || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// checkTask compares card, task and study with what the task says: everything
// but mechanisms, ε, repetitions and seed is the task's. Attackers may be added.
func (c *Checked) checkTask() error {
	data, err := os.ReadFile(filepath.Join(c.Dir, cardFile))
	if err != nil {
		return refuse("there is no %s", cardFile)
	}
	if c.Card, err = ReadCard(cardFile, data); err != nil {
		return asRefusal(err)
	}
	if data, err = os.ReadFile(filepath.Join(c.Dir, taskFile)); err != nil {
		return refuse("there is no %s", taskFile)
	}
	if err := checkPaths(taskFile, data); err != nil {
		return err
	}
	t, err := task.Parse(taskFile, data)
	if err != nil {
		return asRefusal(err)
	}
	if own, _, err := task.Open(t.Name); err == nil && own.Version == t.Version && own.Hash() != t.Hash() {
		return refuse("%s: %s of this mldp has the content %.12s…, that of the package %.12s…", taskFile, own, own.Hash(),
			t.Hash())
	}
	c.Of = t
	s := c.Study
	size := task.Full
	if c.Task == t.Ref(task.Lite) {
		size = task.Lite
	}
	if c.Task != t.Ref(size) || s.Task != c.Task {
		return refuse("of another task: package %s, study %q, the file is %s", c.Task, s.Task, t.Ref(size))
	}
	for _, m := range s.Mechanisms {
		if study.Many(m.Name) {
			return refuse("mechanisms: %q means others in another mldp: name them", m.Name)
		}
	}
	want, err := t.Submission(size, s.Mechanisms, s.Epsilons)
	if err != nil {
		return asRefusal(err)
	}
	want.Seed, want.Repetitions, want.BaselineRepetitions = s.Seed, s.Repetitions, cmp.Or(want.BaselineRepetitions,
		s.BaselineRepetitions)
	if n := len(want.Attackers); len(s.Attackers) > n {
		for _, a := range s.Attackers[n:] {
			if _, err := attack.Find(a.Name); err != nil {
				return refuse("attacker %s is not built in", a.Name)
			}
		}
		want.Attackers = append(slices.Clone(want.Attackers), s.Attackers[n:]...)
	}
	a, err := want.YAML()
	if err != nil {
		return err
	}
	b, err := s.YAML()
	if err != nil {
		return err
	}
	if line := firstLine(string(a), string(b)); line != "" {
		return refuse("%s is not the study of %s: %s", studyFile, t, line)
	}
	return nil
}

// firstLine describes the first line in which two texts differ.
func firstLine(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d is %q, the task has %q", i+1, y, x)
		}
	}
	return ""
}

func (c *Checked) checkRows() (err error) {
	if c.Run.Rows, err = results.Read(filepath.Join(c.Dir, rowsFile)); err != nil {
		return asRefusal(err)
	}
	if len(c.Run.Rows) == 0 {
		return refuse("%s: no rows", rowsFile)
	}
	for _, r := range c.Run.Rows {
		switch {
		case r.Study != c.Package.Study || r.Study != c.Study.Name:
			return refuse("%s: a row of study %q in a package of %q", rowsFile, r.Study, c.Package.Study)
		case r.Task != c.Task:
			return refuse("%s: a row of task %q in a package of %q", rowsFile, r.Task, c.Task)
		}
		if r.Items != "" {
			c.Items += r.Whole
		}
	}
	if c.Run.Audit, err = results.ReadAudit(filepath.Join(c.Dir, auditFile)); err != nil {
		return asRefusal(err)
	}
	return nil
}

// Options of Verify.
type Options struct {
	Root    string // data folder
	Version string // of mldp
	Workers int
	Samples int // of an audit that the package holds
	Log     io.Writer
}

// Verify computes all numbers of a checked package again, without the network,
// and compares every row, every test item and every verdict of an audit.
func (c *Checked) Verify(ctx context.Context, o Options) error {
	s := *c.Study
	s.Mechanisms = slices.Clone(s.Mechanisms)
	for i := range s.Mechanisms {
		if m := &s.Mechanisms[i]; m.Text != "" {
			m.Text = filepath.Join(c.Dir, filepath.FromSlash(m.Text))
		}
	}
	out, err := os.MkdirTemp("", "mldp-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	summary, err := experiments.Run(ctx, &s, o.Root, engine.Options{Out: out, Workers: o.Workers, Log: o.Log,
		Version: o.Version})
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return refuse("it cannot be computed again: %s",
			strings.ReplaceAll(err.Error(), c.Dir+string(filepath.Separator), ""))
	}
	if err := compareRows(c.Run.Rows, summary.Rows); err != nil || len(c.Run.Audit) == 0 {
		return err
	}
	at := 0
	err = experiments.Audit(ctx, &s, o.Root, o.Version, audit.Options{Samples: o.Samples},
		func(row results.AuditRow, _ audit.Report) error {
			i := slices.IndexFunc(c.Run.Audit, func(a results.AuditRow) bool {
				return a.Instance() == row.Instance() && a.Epsilon == row.Epsilon
			})
			if at++; i < 0 || c.Run.Audit[i].Violated != row.Violated || c.Run.Audit[i].Promises != row.Promises {
				return refuse("%s: %s at ε = %v: the audit gives violated = %t", auditFile, row.Mechanism, row.Epsilon,
					row.Violated)
			}
			return nil
		})
	if err == nil && at != len(c.Run.Audit) {
		err = refuse("%s: %d verdicts, the audit has %d", auditFile, len(c.Run.Audit), at)
	}
	return err
}

// compareRows compares what a package says with what was computed.
func compareRows(said, computed []results.Row) error {
	id := func(r results.Row) string {
		return strings.Join([]string{r.Key, r.Quantity, r.Model, r.Setting, fmt.Sprint(r.Repetition), r.X.String()}, " ")
	}
	found := map[string]results.Row{}
	for _, r := range said {
		found[id(r)] = r
	}
	name := func(r results.Row) string {
		return strings.TrimSpace(fmt.Sprintf("%s of %s ε=%s, repetition %d", r.Quantity,
			r.Mechanism, r.Epsilon, r.Repetition))
	}
	for _, r := range computed {
		s, ok := found[id(r)]
		if i := slices.IndexFunc(said, func(s results.Row) bool {
			return s.Quantity == r.Quantity && s.Measurement != r.Measurement
		}); !ok && i >= 0 {
			return refuse("%s: %s was measured as %s, this mldp has %s: measure it again, or verify with mldp of that time",
				rowsFile, r.Quantity, said[i].Measurement, r.Measurement)
		}
		if !ok {
			return refuse("%s: no row has %s with the key %s, which follows from texts, data and task", rowsFile, name(r),
				r.Key)
		}
		delete(found, id(r))
		if column := results.FirstDifference(s, r); column != "" {
			return refuse("%s: %s: %s is not what the texts give: %s said, %s computed", rowsFile, name(r), column,
				cmp.Or(s.Text(column), "none"), cmp.Or(r.Text(column), "none"))
		}
		if s.Items != r.Items {
			return refuse("%s: %s: the answers on the test items are missing or not those of the texts", rowsFile, name(r))
		}
		if s.Scores != "" && s.Scores != r.Scores { // older packages have none
			return refuse("%s: %s: the scores of the test items are not those of the texts", rowsFile, name(r))
		}
	}
	for _, r := range said {
		if _, left := found[id(r)]; left {
			return refuse("%s: %s does not follow from the study", rowsFile, name(r))
		}
	}
	return nil
}
