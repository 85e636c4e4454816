package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/experiments/task"
	"mldpbench/internal/list"
	"mldpbench/plots/report"
	"mldpbench/results"
)

func newStudyCommand() *cobra.Command {
	list := command("study-list", "")
	prints(list, func(_ *cobra.Command, _ []string, a *answer) error {
		var rows [][]any
		for _, name := range experiments.Builtin.Names() {
			s, err := experiments.Builtin.Open(name)
			if err != nil {
				return err
			}
			rows = append(rows, []any{s.Name, s.Title})
		}
		for _, ref := range task.Refs() {
			t, _, err := task.Open(ref)
			if err != nil {
				return err
			}
			rows = append(rows, []any{ref, t.Title})
		}
		return a.table("studies", []string{"study", "title"}, rows)
	})
	show := completes(command("study-show", "NAME"), studies)
	show.RunE = func(cmd *cobra.Command, args []string) error {
		if task.Is(args[0]) {
			t, _, err := task.Open(args[0])
			if err != nil {
				return usage(err)
			}
			_, err = cmd.OutOrStdout().Write(t.Source())
			return err
		}
		source, err := experiments.Builtin.Source(args[0])
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(source)
		return err
	}
	return group("study", list, show, newStudyCheckCommand(), newStudyKeysCommand())
}

// openStudy opens a study, changed by flags if there are any. Any error before
// anything is run is wrong usage, including a missing file.
func openStudy(ref, root string, flags *study.Overrides) (*experiments.Planned, error) {
	s, err := openTaskOrStudy(ref, root, flags != nil)
	if err == nil && flags != nil {
		s, err = s.Override(*flags)
	}
	if err != nil {
		return nil, usage(err)
	}
	p, err := experiments.New(s)
	return p, usage(err)
}

// openTaskOrStudy compiles a task, whose data must be there to run it, or opens a
// study.
func openTaskOrStudy(ref, root string, run bool) (*study.Study, error) {
	if !task.Is(ref) {
		library := experiments.Builtin
		library.Root = root
		return library.Open(ref)
	}
	t, size, err := task.Open(ref)
	if err == nil && run {
		err = t.Present(root)
	}
	if err != nil {
		return nil, err
	}
	return t.Study(size)
}

func newStudyCheckCommand() *cobra.Command {
	const usual = "usual/" // value of --data without a folder
	var data string
	var o study.Overrides
	cmd := completes(command("study-check", "STUDY|FILE.yaml"), studies)
	cmd.Flags().StringVar(&data, "data", "", "open the data too, in the usual folder (MLDP_DATA, else the cache "+
		"folder) or with --data=DIR in DIR")
	cmd.Flags().Lookup("data").NoOptDefVal = usual
	setFlag(cmd.Flags(), &o.Set)
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		root := strings.TrimPrefix(data, usual)
		var changed *study.Overrides
		if len(o.Set) > 0 {
			changed = &o
		}
		s, err := openStudy(args[0], root, changed)
		if err != nil {
			return err
		}
		plan, err := s.Engine(lab.New(""))
		if err != nil {
			return err
		}
		if data != "" {
			if err := s.CheckData(cmd.Context(), root); err != nil {
				return err
			}
		}
		warnStudy(cmd.ErrOrStderr(), s.Study)
		if repeated := plan.Unique(); len(repeated) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %d units repeat others and are run once, the first: %s\n",
				len(repeated), repeated[0])
		}
		a.add("study", []struct {
			Study string
			Units int
		}{{s.Name, len(plan.Units)}})
		_, err = fmt.Fprintf(a.text, "%s: %d units\n", s.Name, len(plan.Units))
		return err
	})
}

// warnStudy says what may be a mistake: that nothing is privatised, that a command
// line holds a secret; and which of all mechanisms are left out.
func warnStudy(w io.Writer, s *study.Study) {
	said := map[string]bool{}
	warn := func(text string) {
		if !said[text] {
			fmt.Fprintln(w, text)
		}
		said[text] = true
	}
	for _, part := range s.Parts() {
		commands := slices.Concat(list.Map(part.Mechanisms, func(m study.MechanismSpec) []string { return m.Command }),
			list.Map(part.Attackers, func(x study.CommandSpec) []string { return x.Command }))
		for _, c := range commands {
			if name := report.SecretIn(strings.Join(c, " ")); name != "" {
				warn(fmt.Sprintf("warning: command %s: %s is stored with the study in manifest.json: give it in the environment, "+
					"which is stored nowhere", c[0], name))
			}
		}
		if len(part.Mechanisms) == 0 && len(part.Models) > 0 {
			warn("warning: mechanisms: the list is empty: nothing is privatised, only baselines are run")
		}
		for _, m := range part.Mechanisms {
			_, unread, _ := part.Expand(m) // checked
			for _, why := range unread {
				warn(fmt.Sprintf("mechanisms: %s leaves one out: %v", m.Name, why))
			}
		}
	}
}

func newStudyKeysCommand() *cobra.Command {
	cmd := command("study-keys", "")
	return prints(cmd, func(_ *cobra.Command, _ []string, a *answer) error {
		var keys, quantities [][]any
		for _, k := range study.Keys() {
			keys = append(keys, []any{k.Path, k.Kind(), k.Doc})
		}
		for _, c := range results.Columns() {
			if c.Title == "" {
				continue
			}
			var threshold any
			if c.Threshold > 0 {
				threshold = c.Threshold
			}
			of := "the text"
			switch {
			case c.Attacker != "":
				of = "attacker " + c.Attacker
			case c.OfModel:
				of = "the classifier"
			}
			better := map[results.Direction]string{results.Up: "higher", results.Down: "lower"}[c.Direction]
			quantities = append(quantities, []any{c.Name, c.Title, c.Unit, better, threshold, of})
		}
		if err := a.table("keys", []string{"key", "value", "meaning"}, keys); err != nil {
			return err
		}
		fmt.Fprintln(a.text)
		return a.table("quantities", []string{"quantity", "title", "unit", "better", "threshold", "of"}, quantities)
	})
}
