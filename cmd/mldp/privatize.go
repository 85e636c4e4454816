package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

func init() { commands = append(commands, newPrivatizeCommand) }

func newPrivatizeCommand() *cobra.Command {
	var o instanceOptions
	var policy string
	var seed uint64
	var workers int
	cmd := &cobra.Command{
		Use:   "privatize",
		Short: "Privatise text from standard input, line by line",
		Long: `Privatize replaces every word of standard input and writes the result to
standard output as it goes, line for line.

A word is a run of letters, digits and marks, with single apostrophes inside
(don't). It is looked up as it stands and, failing that, in lower case, and is
replaced by a word as the vocabulary writes it. All that stands between words
(spaces, punctuation) is copied: it is not protected, and neither is the number
of words. A word that the vocabulary does not have is replaced by a random one,
kept (which shows it), or dropped with the space before it.

Without --seed the noise comes from the operating system and cannot be
repeated; a known seed undoes the protection. Standard error says once what was
promised for each word; a line of n words costs n times as much.`,
		Example: `  mldp privatize --mechanism cmp --epsilon 10 --embedding glove.6B.100d.txt < in.txt > out.txt
  mldp privatize --mechanism tem --epsilon 5 --policy keep < in.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := mechanisms.CheckPolicy(mechanisms.Policy(policy)); err != nil {
				return &exitError{exitUsage, err}
			}
			root := stream.FromUint64(seed)
			if !cmd.Flags().Changed("seed") {
				var err error
				if root, err = stream.Cryptographic(); err != nil {
					return err
				}
			}
			m, err := o.open(cmd.Context(), root)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s; unknown words: %s; guarantee per word: %s\n", instanceName(m.Settings()), policy, m.Guarantee())
			p := privatizer{mechanism: m, policy: mechanisms.Policy(policy), seed: root.Derive("text"), workers: workers}
			return p.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&policy, "policy", string(mechanisms.Random), "for words outside the vocabulary: random, keep or drop")
	f.Uint64Var(&seed, "seed", 0, "seed, to repeat a run (default: cryptographic)")
	f.IntVar(&workers, "workers", runtime.GOMAXPROCS(0), "cores to use; the text does not depend on it")
	require(cmd, "mechanism", "epsilon")
	return cmd
}

// privatizer streams lines through a mechanism.
type privatizer struct {
	mechanism mechanisms.Mechanism
	policy    mechanisms.Policy
	seed      stream.Seed
	workers   int
}

// blockLines is the most lines that wait for each other.
const blockLines = 4096

// run handles whatever lines are there already together, so that a file is
// fast and a conversation is answered line by line. The text depends on the
// number of a line only.
func (p *privatizer) run(ctx context.Context, in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	var line uint64
	for {
		var block []string
		var err error
		for err == nil && len(block) < blockLines && (len(block) == 0 || r.Buffered() > 0) {
			var text string
			if text, err = r.ReadString('\n'); text != "" {
				block = append(block, text)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if werr := p.block(ctx, w, block, line); werr != nil {
			return werr
		}
		line += uint64(len(block))
		if err != nil {
			return nil
		}
	}
}

// block privatises lines numbered from first on and writes them.
func (p *privatizer) block(ctx context.Context, w *bufio.Writer, lines []string, first uint64) error {
	words, between := make([][]string, len(lines)), make([][]string, len(lines))
	known := make([][]bool, len(lines))
	v := p.mechanism.Vocabulary()
	for i, line := range lines {
		words[i], between[i] = splitWords(line)
		known[i] = make([]bool, len(words[i]))
		for j, word := range words[i] {
			if lower := strings.ToLower(word); v.ID(word) == embeddings.Unknown && v.ID(lower) != embeddings.Unknown {
				words[i][j] = lower
			}
			known[i][j] = v.ID(words[i][j]) != embeddings.Unknown
		}
	}
	noisy, err := mechanisms.TextFrom(ctx, p.mechanism, p.policy, words, first, p.seed, p.workers)
	if err != nil {
		return err
	}
	for i := range lines {
		next := noisy[i]
		for j := range words[i] {
			if !known[i][j] && p.policy == mechanisms.Drop {
				_, _ = w.WriteString(strings.TrimRightFunc(between[i][j], unicode.IsSpace)) // errors stay until Flush
				continue
			}
			_, _ = w.WriteString(between[i][j])
			_, _ = w.WriteString(next[0])
			next = next[1:]
		}
		_, _ = w.WriteString(between[i][len(words[i])])
	}
	return w.Flush()
}

// splitWords returns the words of a line and what stands before each and after
// the last: len(between) = len(words)+1, and together they are the line.
func splitWords(line string) (words, between []string) {
	start, end := -1, 0 // of the current word; end of the last
	runes := []rune(line)
	offsets := make([]int, 0, len(runes)+1)
	for i := range line {
		offsets = append(offsets, i)
	}
	offsets = append(offsets, len(line))
	inWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]) || unicode.IsMark(runes[i]))
	}
	for i := 0; i <= len(runes); i++ {
		apostrophe := i < len(runes) && (runes[i] == '\'' || runes[i] == '’') && inWord(i-1) && inWord(i+1)
		switch {
		case inWord(i) || apostrophe:
			if start < 0 {
				start = offsets[i]
			}
		case start >= 0:
			between = append(between, line[end:start])
			words = append(words, line[start:offsets[i]])
			start, end = -1, offsets[i]
		}
	}
	return words, append(between, line[end:])
}
