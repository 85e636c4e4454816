package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/results"
)

func init() { commands = append(commands, newTablesCommand) }

func newTablesCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "tables RESULTS",
		Short: "Write the study's tables as Markdown, LaTeX and CSV",
		Long: `Tables reads results (a file, or the folder of a run) and writes the tables of the comparative study that the results allow
(accuracy, regression, privacy metrics, English words, composites, example
outputs) and ours beside them (ranks, adversary, guarantees, cost), each as .md,
.tex (booktabs) and .csv, and prints their paths. Example outputs come from
examples.jsonl beside the results, where mldp run leaves it.`,
		Example: `  mldp tables results/mini/results.csv --out results/mini/tables`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := recordsFile(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(filepath.Dir(path), "tables")
			}
			records, err := readDerived(path)
			if err != nil {
				return err
			}
			examples, err := readExamples(filepath.Join(filepath.Dir(path), "examples.jsonl"))
			if err != nil {
				return err
			}
			paths, err := results.WriteTables(out, results.TableInputs{Records: records, Examples: examples})
			if err != nil {
				return err
			}
			for _, p := range paths {
				fmt.Fprintln(cmd.OutOrStdout(), p)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder of the tables (default: tables beside the results)")
	return cmd
}

// readExamples reads the outputs that a run kept; there may be none.
func readExamples(path string) ([]results.Example, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var examples []results.Example
	d := json.NewDecoder(f)
	for {
		var e results.Example
		err := d.Decode(&e)
		if err == io.EOF {
			return examples, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: example %d: %w", path, len(examples)+1, err)
		}
		examples = append(examples, e)
	}
}
