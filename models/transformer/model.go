// Package transformer asks language models and sentence encoders, which a Python
// process runs: the role "model" of docs/external.md. Any model and any device that
// onnxruntime, transformers or sentence-transformers know will do.
package transformer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms/external"
	"mldpbench/python"
)

// Task is what a model is asked for.
type Task string

// What is asked, and what is answered.
const (
	Encode  Task = "encode"  // a text → a vector
	Score   Task = "score"   // a text, a place, candidates → ln Pr of each there; a masked model
	LogProb Task = "logprob" // a text → ln Pr of each piece given those before it; a causal model
)

// Model is a language model or an encoder that a Python process runs, with
// onnxruntime or, by its name, with the libraries that know it. All workers
// share the process. It is safe for concurrent use.
type Model struct {
	*external.Command
	task Task
	mu   sync.Mutex // one request at a time, so one process
	key  string     // of kept answers
}

// Python is the interpreter of models: MLDP_PYTHON, a program or the folder of a
// virtual environment, else python3. MLDP_PYTHON may also name another folder,
// such as that of our package, which is no interpreter.
func Python() string {
	named := os.Getenv("MLDP_PYTHON")
	if info, err := os.Stat(named); err == nil && info.IsDir() {
		named = filepath.Join(named, "bin", "python3")
		if _, err := os.Stat(named); err != nil {
			named = ""
		}
	}
	return cmp.Or(named, "python3")
}

// Open starts a model. With a folder, which has model.onnx and
// tokenizer.json, its files are the model, and digest is their hash; without,
// the name is one that sentence-transformers or transformers know. Its errors
// are those of the user's machine, one line each.
func Open(ctx context.Context, task Task, name, folder, digest string) (*Model, error) {
	args := []string{Python(), "-c", python.Models, string(task), name}
	who := "model " + name + " (here and in the data folder is no folder of that name)"
	if folder != "" {
		args = append(args, folder)
		who = "model " + folder
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, check.Wrong("%s: no %s here: install Python 3.9 or newer, or name one in MLDP_PYTHON; then: "+
			"python3 -m pip install onnxruntime tokenizers numpy", who, args[0])
	}
	c, err := external.Open(ctx, args, external.Options{Role: external.ModelRole, Who: who})
	if err != nil {
		return nil, err
	}
	if why := c.Hello.Error; why != "" {
		return nil, errors.Join(check.Wrong("%s: %.500s", who, why), c.Close())
	}
	forget()
	key := fmt.Sprintf("%s\x00%s\x00%s", task, cmp.Or(digest, name), c.Hello.Version)
	return &Model{
		Command: c,
		task:    task,
		key:     key,
	}, nil
}

// Name is that of the folder or model.
func (m *Model) Name() string { return m.Hello.Name }

// ask returns n rows of numbers for a question; see external.Command.Numbers.
func (m *Model) ask(ctx context.Context, q *external.Request, n, width int) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Numbers(ctx, q, n, width)
}

// decoded are the numbers of a row of an answer.
func decoded(row []byte) []float32 {
	out := make([]float32, len(row)/4)
	_, _ = binary.Decode(row, binary.LittleEndian, out) // it has that length
	return out
}

const textsTogether = 512 // in a request, and answers in a file

// Encode returns the numbers of each text: its vector or, of a causal model, the
// logarithms of its pieces. Texts of similar length are asked together. Answers are
// kept in the user's cache for a week, so that a study that was killed does not
// ask again; the same texts give the same requests.
func (m *Model) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(texts[a]), len(texts[b]))
	})
	out := make([][]float32, len(texts))
	for some := range slices.Chunk(order, textsTogether) {
		rows, err := m.kept(ctx, list.Map(some, func(i int) string { return texts[i] }))
		if err != nil {
			return nil, err
		}
		for k, i := range some {
			out[i] = decoded(rows[k])
			if slices.ContainsFunc(out[i], func(x float32) bool { return x-x != 0 }) {
				return nil, fmt.Errorf("%s: a number of %.60q is not finite", m.Who, texts[i])
			}
		}
	}
	return out, nil
}

// numbersTogether is the number of scores in an answer, which is a line.
const numbersTogether = 1 << 20

// Score returns for each place of a text of words ln Pr of every candidate as
// the word there, given all other words: a distribution over the candidates,
// −Inf for those that the model can't spell in three pieces.
//
// A candidate of k pieces has the product of its pieces' probabilities at k mask
// tokens, all masked at once. Products of different k are not parts of one
// distribution of the model and are made one by normalising over the candidates:
// between words of equal length the ratio is the model's, between others it is a
// convention, as pseudo-log-likelihood is (Salazar et al. 2020).
func (m *Model) Score(ctx context.Context, words []string, places []int, candidates []string) ([][]float32, error) {
	var rows [][]float32
	for some := range slices.Chunk(places, max(1, numbersTogether/max(1, len(candidates)))) {
		q := &external.Request{Score: []external.Places{{Words: words, Places: some}}, Candidates: candidates}
		more, err := m.ask(ctx, q, len(some), len(candidates))
		if err != nil {
			return nil, err
		}
		rows = append(rows, list.Map(more, decoded)...)
	}
	return rows, nil
}

// keeping is the folder of kept answers, "" where the user has none.
func keeping() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "mldpbench", "models")
}

// forget removes answers that are older than a week.
func forget() {
	files, _ := os.ReadDir(keeping())
	for _, f := range files {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > 7*24*time.Hour {
			_ = os.Remove(filepath.Join(keeping(), f.Name())) // another process may have done so
		}
	}
}

// kept returns the numbers of texts from the cache, or asks for them and keeps
// them there.
func (m *Model) kept(ctx context.Context, texts []string) (rows [][]byte, err error) {
	h := sha256.New()
	for _, t := range append([]string{m.key}, texts...) {
		fmt.Fprintf(h, "%d %s", len(t), t)
	}
	path := filepath.Join(keeping(), fmt.Sprintf("%x", h.Sum(nil)))
	data, err := os.ReadFile(path)
	if err == nil && gob.NewDecoder(bytes.NewReader(data)).Decode(&rows) == nil && len(rows) == len(texts) {
		return rows, nil
	}
	q := &external.Request{Encode: texts}
	if m.task == LogProb {
		q = &external.Request{LogProb: texts}
	}
	rows, err = m.ask(ctx, q, len(texts), 0)
	if err == nil && keeping() != "" {
		// Where there is no room they are asked for again.
		_ = atomicfile.Write(path, 0o600, func(w io.Writer) error {
			return gob.NewEncoder(w).Encode(rows)
		})
	}
	return rows, err
}
