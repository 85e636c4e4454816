package external

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	py "mldpbench/python"
)

// Task is what a model is asked for.
type Task string

const (
	Encode  Task = "encode"  // a text → a vector
	Score   Task = "score"   // a text, a place, candidates → ln Pr of each there; a masked model
	LogProb Task = "logprob" // a text → ln Pr of each piece given those before it; a causal model
)

var nouns = map[Task]string{Encode: "sentence encoder", Score: "masked model", LogProb: "causal model"}

// Model is a language model or an encoder that a Python process runs, with
// onnxruntime or, by its name, with the libraries that know it. All workers
// share the process. It is safe for concurrent use.
type Model struct {
	*Command
	task  Task
	mu    sync.Mutex // one request at a time, so one process
	key   string     // of kept answers
	cache string     // their folder, "" where the user has none
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

// OpenModel starts a model. With a folder, which has model.onnx and
// tokenizer.json, its files are the model, and digest is their hash; without,
// the name is one that sentence-transformers or transformers know. Its errors
// are those of the user's machine, one line each.
func OpenModel(ctx context.Context, task Task, name, folder, digest string) (*Model, error) {
	args, who := []string{Python(), "-c", py.Models, string(task), name}, nouns[task]+" "
	if folder != "" {
		args, who = append(args, folder), who+folder
	} else {
		who += name + " (here and in the data folder is no folder of that name)"
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, check.Wrong("%s: no %s here: install Python 3.9 or newer, or name one in MLDP_PYTHON; then: "+
			"python3 -m pip install onnxruntime tokenizers numpy", who, args[0])
	}
	c, err := Open(ctx, args, Options{Role: ModelRole, who: who})
	if err != nil {
		return nil, err
	}
	if why := c.hello.Error; why != "" {
		return nil, errors.Join(check.Wrong("%s: %.500s", who, why), c.Close())
	}
	m := &Model{Command: c, task: task}
	sum := sha256.Sum256([]byte(strings.Join([]string{string(task), cmp.Or(digest, name), m.Version()}, "\x00")))
	m.key = hex.EncodeToString(sum[:])
	if cache, err := os.UserCacheDir(); err == nil {
		m.cache = filepath.Join(cache, "mldpbench", "models")
		forget(m.cache)
	}
	return m, nil
}

// Name returns the name of the folder, or that of the model.
func (m *Model) Name() string { return m.hello.Name }

// Version identifies a model without a folder: of its libraries and weights.
func (m *Model) Version() string { return m.hello.Version }

// ask returns n rows of numbers for a question, each of width numbers where that
// is known, else 0.
func (m *Model) ask(ctx context.Context, q *Request, n, width int) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return ask(ctx, m.Command, q, n, func(a Answer) [][]byte { return a.Numbers }, func(_ int, row []byte) error {
		if len(row)%4 != 0 || width > 0 && len(row) != 4*width {
			return fmt.Errorf("a row of %d bytes", len(row))
		}
		return nil
	})
}

// decoded are the numbers of a row of an answer.
func decoded(row []byte) []float32 {
	out := make([]float32, len(row)/4)
	_, _ = binary.Decode(row, binary.LittleEndian, out) // it has that length
	return out
}

// textsTogether is the number of texts in a request, and of answers in a file.
const textsTogether = 256

// Ask returns the numbers of each text: its vector, or the logarithms of its
// pieces. Texts of similar length are asked together. Answers are kept in the
// user's cache for a week, so that a study that was killed does not ask again;
// the same texts give the same requests.
func (m *Model) Ask(ctx context.Context, texts []string) ([][]float32, error) {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(texts[a]), len(texts[b])) })
	out := make([][]float32, len(texts))
	for some := range slices.Chunk(order, textsTogether) {
		asked := make([]string, len(some))
		for k, i := range some {
			asked[k] = texts[i]
		}
		rows, err := m.kept(ctx, asked)
		if err != nil {
			return nil, err
		}
		for k, i := range some {
			out[i] = decoded(rows[k])
			if slices.ContainsFunc(out[i], func(x float32) bool { return x-x != 0 }) {
				return nil, fmt.Errorf("%s: a number of %.60q is not finite", m.options.who, texts[i])
			}
		}
	}
	return out, nil
}

// Encode is Ask of an encoder.
func (m *Model) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	return m.Ask(ctx, texts)
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
		more, err := m.ask(ctx, &Request{Score: []Places{{words, some}}, Candidates: candidates}, len(some),
			len(candidates))
		if err != nil {
			return nil, err
		}
		rows = append(rows, list.Map(more, decoded)...)
	}
	return rows, nil
}

// keptFor is how long answers are kept.
const keptFor = 7 * 24 * time.Hour

// forget removes old answers from a folder.
func forget(folder string) {
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(folder, f.Name())) // another process may have done so
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
	path := filepath.Join(m.cache, hex.EncodeToString(h.Sum(nil)))
	data, err := os.ReadFile(path)
	if err == nil && gob.NewDecoder(bytes.NewReader(data)).Decode(&rows) == nil && len(rows) == len(texts) {
		return rows, nil
	}
	q := &Request{Encode: texts}
	if m.task == LogProb {
		q = &Request{LogProb: texts}
	}
	if rows, err = m.ask(ctx, q, len(texts), 0); err == nil && m.cache != "" {
		// Where there is no room they are asked for again.
		_ = atomicfile.Write(path, 0o600, func(w io.Writer) error { return gob.NewEncoder(w).Encode(rows) })
	}
	return rows, err
}
