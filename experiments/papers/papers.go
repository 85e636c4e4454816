// Package papers reruns the measurements of the four papers on which the
// comparative study rests: Vickrey (Xu et al. 2021b), TEM (Carvalho et al.
// 2023), PrivEmb (Feyisetan & Kasiviswanathan 2021) and CMP (Feyisetan et al.
// 2020). Each measured privacy in its own way; each is one protocol here, one
// file, one strict YAML study.
//
// It believes that a figure is a set of points and that every point can be
// measured alone: a protocol plans units (one curve at one place), a unit
// yields points, a finished unit is never run again. It stops at drawing:
// plots reads the points.
package papers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"golang.org/x/sync/errgroup"

	"mldpbench/experiments"
	"mldpbench/internal/atomicfile"
	"mldpbench/results"
	"mldpbench/stream"
)

// StudySchema is the version of the paper studies' file format.
const StudySchema = 1

// Header is what all paper studies have in common.
type Header struct {
	Schema   int    `yaml:"schema"`
	Name     string `yaml:"name"`
	Title    string `yaml:"title,omitempty"`
	Protocol string `yaml:"protocol"`
	Seed     uint64 `yaml:"seed"`
}

func (h Header) header() Header { return h }

func (h Header) seed() stream.Seed { return stream.FromUint64(h.Seed).Derive("papers", h.Protocol) }

// Study is a checked study of one of the protocols.
type Study interface {
	header() Header
	// check validates every value.
	check() error
	// plan opens the data and lists the units.
	plan(ctx context.Context, lab *Lab) ([]Unit, error)
}

// Unit is a piece of work that is done or not done: usually one curve at one
// place of its x axis.
type Unit struct {
	Panel, Series string
	X             results.Float
	// identity is everything beside the study's protocol and seed that the
	// outcome depends on: settings and data fingerprints. Its hash is the key.
	identity []any
	run      func(ctx context.Context) ([]results.Record, error)
}

func (u Unit) String() string {
	if !u.X.Known() {
		return fmt.Sprintf("%s: %s", u.Panel, u.Series)
	}
	return fmt.Sprintf("%s: %s at %v", u.Panel, u.Series, float64(u.X))
}

// protocols makes an empty study of each protocol, to decode into.
var protocols = map[string]func() Study{}

// Protocols returns the names of the protocols, sorted.
func Protocols() []string { return slices.Sorted(maps.Keys(protocols)) }

//go:embed studies/*.yaml
var studies embed.FS

// Builtin are the embedded studies.
var Builtin = experiments.Library{Files: studies}

// ProtocolOf returns the protocol that a study file names, "" if it names none.
func ProtocolOf(data []byte) string {
	var h struct {
		Protocol string `yaml:"protocol"`
	}
	if err := yaml.Unmarshal(data, &h); err != nil {
		return ""
	}
	return h.Protocol
}

// Parse reads and checks a study. Errors are "file:line:column: what" where
// the position is known.
func Parse(filename string, data []byte) (Study, error) {
	protocol := ProtocolOf(data)
	empty, ok := protocols[protocol]
	if !ok {
		return nil, fmt.Errorf("%s: protocol = %q: must be one of %q", filename, protocol, Protocols())
	}
	s := empty()
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(s); err != nil {
		var y yaml.Error
		if errors.As(err, &y) && y.GetToken() != nil {
			p := y.GetToken().Position
			return nil, fmt.Errorf("%s:%d:%d: %s", filename, p.Line, p.Column, y.GetMessage())
		}
		return nil, fmt.Errorf("%s: %w", filename, err)
	}
	h := s.header()
	switch {
	case h.Schema != StudySchema:
		return nil, fmt.Errorf("%s: schema = %d: this version of mldp reads schema %d", filename, h.Schema, StudySchema)
	case h.Name == "" || strings.ContainsAny(h.Name, `/\ `) || h.Name[0] == '.':
		return nil, fmt.Errorf("%s: name = %q: must be usable as the name of a folder", filename, h.Name)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", filename, err)
	}
	return s, nil
}

// Options say where and how a study runs; none of them changes its points.
type Options struct {
	Data    string   // data folder; "" finds it as every command does
	Out     string   // folder of the results
	Workers int      // units at a time
	Panels  []string // only these panels or sections; none means all
	// Started is called once, before any unit; Finished, from any goroutine,
	// for every unit that came to an end: not for what ctx cut off.
	Started  func(pending, done int)
	Finished func(unit string, err error)
}

// Lab is what units are planned with.
type Lab struct {
	Data   string
	Panels []string // to plan; none means all
	named  []string // panels that the study has
}

// wants says whether to plan a panel of a section of the study. It can be
// called by its name, by that of its section, or by both: "section/name".
func (l *Lab) wants(section, name string) bool {
	names := []string{section, name, section + "/" + name}
	l.named = append(l.named, names...)
	return len(l.Panels) == 0 || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(l.Panels, n) })
}

// Outcome is a finished run.
type Outcome struct {
	Name   string
	Points []results.Record
	// Path is where the points are, SummaryPath their means and intervals (CSV).
	Path, SummaryPath string
	Units             int
	Reused            int // units that were done before
}

// Run measures every unit that is not done yet and writes OUT/results.csv and
// OUT/summary.csv.
// Finished units are kept in OUT/units, one file each, written atomically:
// whatever stops a run, the same call resumes it. Units that fail do not stop
// the others; their errors are joined.
func Run(ctx context.Context, s Study, o Options) (*Outcome, error) {
	lab := &Lab{Data: o.Data, Panels: o.Panels}
	units, err := s.plan(ctx, lab)
	if err != nil {
		return nil, err
	}
	for _, name := range o.Panels {
		if !slices.Contains(lab.named, name) {
			slices.Sort(lab.named)
			return nil, fmt.Errorf("panel = %q: must be one of %q", name, slices.Compact(lab.named))
		}
	}
	h := s.header()
	out := &Outcome{Name: h.Name, Path: filepath.Join(o.Out, "results.csv"), SummaryPath: filepath.Join(o.Out, "summary.csv"), Units: len(units)}
	points := make([][]results.Record, len(units))
	keys := make([]string, len(units))
	var pending []int
	for i, u := range units {
		if keys[i], err = u.key(h); err != nil {
			return nil, err
		}
		if points[i], err = load(o.unitPath(keys[i])); err != nil {
			return nil, err
		}
		if points[i] == nil {
			pending = append(pending, i)
		}
	}
	out.Reused = len(units) - len(pending)
	if o.Started != nil {
		o.Started(len(pending), out.Reused)
	}
	failures := make([]error, len(units))
	var group errgroup.Group
	group.SetLimit(max(1, o.Workers))
	for _, i := range pending {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil // reported once, below
			}
			measured, err := units[i].run(ctx)
			if ctx.Err() != nil {
				return nil // cut off, not finished
			}
			if err == nil {
				for j := range measured {
					measured[j].Schema, measured[j].Study, measured[j].Key, measured[j].Index = results.SchemaVersion, h.Name, keys[i], i
				}
				points[i] = measured
				err = save(o.unitPath(keys[i]), measured)
			}
			if err != nil {
				failures[i] = fmt.Errorf("%s: %w", units[i], err)
			}
			if o.Finished != nil {
				o.Finished(units[i].String(), err)
			}
			return nil
		})
	}
	_ = group.Wait() // units report through failures
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	for _, p := range points {
		out.Points = append(out.Points, p...)
	}
	if err := results.Write(out.Path, out.Points); err != nil {
		return nil, err
	}
	return out, writeSummary(out.SummaryPath, out.Points)
}

func (o Options) unitPath(key string) string { return filepath.Join(o.Out, "units", key+".json") }

// key names a unit: equal keys mean equal points.
func (u Unit) key(h Header) (string, error) {
	data, err := json.Marshal([]any{results.SchemaVersion, h.Protocol, h.Seed, u.Panel, u.Series, u.X, u.identity})
	if err != nil {
		return "", fmt.Errorf("%s: %w", u, err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:10]), nil
}

// load returns the points of a finished unit, nil if it is not finished. A
// file that cannot be read as points counts as none.
func load(path string) ([]results.Record, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var points []results.Record
	if json.Unmarshal(data, &points) != nil {
		return nil, nil
	}
	return points, nil
}

func save(path string, points []results.Record) error {
	data, err := json.Marshal(points)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, 0o644, append(data, '\n'))
}

// Name is the name of a study.
func Name(s Study) string { return s.header().Name }

// Title is what a study is about, in one line.
func Title(s Study) string { return s.header().Title }
