package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/datasets/table"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms/privatize"
)

// part is a file that is privatised.
type part struct {
	path  string // "-": standard input
	name  string // of several: below the folder that is written
	input table.Options
}

// parts are the files that the arguments name: one, standard input, or those of several
// names, patterns and folders, of which the marks and hidden files of Spark are left out.
type parts struct {
	files   []part
	several bool
	leftOut []string
}

// partsOf finds the files of the arguments.
func partsOf(args []string) (p parts, err error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	info, missing := os.Stat(args[0])
	folder := missing == nil && info.IsDir()
	pattern := missing != nil && strings.ContainsAny(args[0], "*?[")
	if len(args) == 1 && !folder && !pattern {
		p.files = []part{{path: args[0]}}
		return p, nil
	}
	p.several = true
	for _, arg := range args {
		if err := p.add(arg); err != nil {
			return p, err
		}
	}
	if len(p.files) == 0 {
		return p, check.Wrong("%s: there is no file", strings.Join(args, " "))
	}
	byName := func(a, b part) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(p.files, byName) // the parts of a table are numbered
	for i := range p.files[1:] {
		if p.files[i].name == p.files[i+1].name {
			return p, check.Wrong("%s and %s have one name: privatise their folders apart", p.files[i].path,
				p.files[i+1].path)
		}
	}
	return p, nil
}

// add adds the files of an argument.
func (p *parts) add(arg string) error {
	info, err := os.Stat(arg)
	switch {
	case arg == "-":
		return check.Wrong("standard input is no file of several")
	case err == nil && info.IsDir():
		return p.addFolder(arg)
	case err == nil:
		p.addFile(arg, filepath.Base(arg))
		return nil
	case !strings.ContainsAny(arg, "*?["):
		return check.Wrong("%s: there is no such file", arg)
	}
	found, err := filepath.Glob(arg)
	if err != nil || len(found) == 0 {
		return check.Wrong("%s: no file is called so", arg)
	}
	for _, path := range found {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return check.Wrong("%s: is a folder: name it alone, or the files in it", path)
		}
		if strings.HasPrefix(filepath.Base(path), ".") {
			p.leftOut = append(p.leftOut, filepath.Base(path))
			continue
		}
		p.addFile(path, filepath.Base(path))
	}
	return nil
}

// marksOfSpark are files that Spark and pyarrow write beside the parts of a table.
var marksOfSpark = []string{"_SUCCESS", "_metadata", "_common_metadata"}

// addFile adds a file that is no mark of Spark.
func (p *parts) addFile(path, name string) {
	if slices.Contains(marksOfSpark, filepath.Base(path)) {
		p.leftOut = append(p.leftOut, name)
		return
	}
	p.files = append(p.files, part{path: path, name: name})
}

// addFolder adds the files of a folder and the folders in it. As for Spark, Hive and the
// like, what begins with _ or . is none of its parts.
func (p *parts) addFolder(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if strings.ContainsAny(entry.Name()[:1], "_.") {
			p.leftOut = append(p.leftOut, name)
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		if info, err := os.Stat(path); err != nil || info.IsDir() { // of a link
			return check.Wrong("%s: is a link to no file", path)
		}
		p.files = append(p.files, part{path: path, name: name})
		return nil
	})
}

// checkFolder returns an error where several files cannot be written: without a folder, or
// where there is something.
func checkFolder(out string) error {
	if out == "" {
		return check.Wrong("several files are written to a folder: give it with --out")
	}
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return check.Wrong("%s is no folder: several files are written to one", out)
	}
	if len(entries) > 0 {
		return check.Wrong("%s is there already, and not empty: choose another folder", out)
	}
	return nil
}

// inputs are the files as tables.
func (p *privatizing) inputs() []table.Options {
	return list.Map(p.parts.files, func(one part) table.Options { return one.input })
}

// write privatises all files, of several into a folder that is there when all are done.
func (p *privatizing) write(ctx context.Context, s *privatize.Stream) error {
	if !p.parts.several {
		return p.file(ctx, s, p.parts.files[0], p.Out)
	}
	left := ""
	if n := len(p.parts.leftOut); n > 0 {
		left = fmt.Sprintf("; left out: %s", strings.Join(p.parts.leftOut[:min(n, 10)], ", "))
		if n > 10 {
			left += fmt.Sprintf(" and %d more", n-10)
		}
	}
	p.note("%d files%s", len(p.parts.files), left)
	return atomicfile.WriteFolder(p.Out, func(folder string) error {
		for _, one := range p.parts.files {
			if err := p.file(ctx, s, one, filepath.Join(folder, one.name)); err != nil {
				return fmt.Errorf("%w; no file was written", err)
			}
		}
		return nil
	})
}

// file runs a file, or standard input, through s to a file or standard output.
func (p *privatizing) file(ctx context.Context, s *privatize.Stream, one part, out string) error {
	in, done, err := one.open(ctx, p.Stdin)
	if err != nil {
		return err
	}
	defer done()
	if one.isEmpty() && p.parts.several {
		return atomicfile.WriteBytes(out, 0o644, nil) // as Spark writes a part without rows
	}
	r, err := table.NewReader(in, one.input)
	if err != nil {
		return err
	}
	run := func(w io.Writer) error {
		err := s.Run(ctx, r, w)
		if err == nil {
			p.addCopied(r.Copied())
		}
		for _, suspect := range r.Suspects.Warnings() {
			p.note("warning: %s", strings.TrimPrefix(one.name+": "+suspect, ": "))
		}
		return err
	}
	if out == "" {
		return run(p.Stdout)
	}
	return atomicfile.Write(out, 0o644, func(w io.Writer) error {
		if one.input.Format == table.Parquet {
			return run(w)
		}
		return table.Compressed(w, out, run)
	})
}

// addCopied adds the columns of a file that are copied to those of the files before it.
func (p *privatizing) addCopied(columns []table.Copied) {
	for _, c := range columns {
		same := func(before table.Copied) bool { return before.Column == c.Column }
		i := slices.IndexFunc(p.report.Copied, same)
		if i < 0 {
			p.report.Copied = append(p.report.Copied, c)
			continue
		}
		p.report.Copied[i].At += c.At
		p.report.Copied[i].Unread = p.report.Copied[i].Unread || c.Unread
	}
}

// isEmpty reports whether there is no byte in a file of text.
func (one part) isEmpty() bool {
	info, err := os.Stat(one.path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0 && one.input.Format != table.Parquet
}

// open opens a file, whose progress is shown, or standard input.
func (one part) open(ctx context.Context, stdin io.Reader) (in io.Reader, done func(), err error) {
	if one.path == "-" {
		return interruptible(ctx, stdin), func() {}, nil
	}
	file, err := os.Open(one.path)
	if err != nil {
		return nil, nil, err
	}
	if one.input.Format == table.Parquet {
		return file, func() { file.Close() }, nil
	}
	in, end := progress.File(ctx, file)
	return in, func() { end(); file.Close() }, nil
}
