package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
	"mldpbench/stream"
)

// documentAudit is the record of an audit of documents.
type documentAudit struct {
	Mechanism string           `json:"mechanism"`
	Epsilon   float64          `json:"epsilon"`
	Verdict   string           `json:"verdict"`
	Violated  bool             `json:"violated"`
	Pairs     int              `json:"pairs"`
	Tested    int              `json:"pairs_tested"`
	Requests  int              `json:"requests"`
	Family    string           `json:"differ_in"`
	A         string           `json:"a"`
	B         string           `json:"b"`
	Event     string           `json:"event"`
	LogRatio  results.Optional `json:"log_ratio_at_least"`
	Allowed   float64          `json:"log_ratio_allowed"`
	Detects   float64          `json:"would_have_found"` // times epsilon; 0: nothing
}

// auditDocuments looks for two texts at which a mechanism breaks a guarantee for whole
// documents: of a command ε between any two, of a mechanism of words ε shared by the words of a
// text, between texts of the same length.
func auditDocuments(ctx context.Context, a Auditing) (*Outcome, error) {
	o := a.answer()
	name, claimed, end, err := a.claimed(ctx, o.call)
	if err != nil {
		return nil, err
	}
	found, err := audit.SearchDocuments(ctx, claimed, audit.SearchOptions{Alpha: a.Options.Alpha,
		Requests: a.Options.Samples, Seed: stream.FromUint64(a.Seed).Derive("documents", name)})
	err = errors.Join(err, end())
	if err != nil {
		return nil, err
	}
	o.Records["audit"] = []documentAudit{{Mechanism: name, Epsilon: a.Epsilon, Verdict: found.Verdict(),
		Violated: found.Violated, Pairs: found.Pairs, Tested: found.Tested, Requests: found.Requests,
		Family: found.Worst.Family, A: found.Worst.A, B: found.Worst.B, Event: found.Event,
		LogRatio: results.Float(found.LogRatio), Allowed: found.Allowed, Detects: found.Detects}}
	o.say("%s, epsilon %v for a document: %s", name, a.Epsilon, found.Verdict())
	if found.Tested > 0 {
		o.say("    worst pair differs in %s: %q and %q", found.Worst.Family, found.Worst.A, found.Worst.B)
		o.say("    event: %s", found.Event)
		o.say("    log-ratio at least %.4g, allowed %.4g", found.LogRatio, found.Allowed)
	}
	o.say("    %d pairs were looked at, %d tested, with %d requests", found.Pairs, found.Tested, found.Requests)
	switch {
	case found.Violated:
		return o, &Verdict{Violated, "the guarantee for documents is violated"}
	case found.Reason != "":
		return o, &Verdict{Nothing, "nothing was audited"}
	case found.Detects == 0:
		return o, &Verdict{Nothing, "nothing could be found at this epsilon"}
	}
	return o, nil
}

// claimed opens what is audited. end closes it.
func (a Auditing) claimed(ctx context.Context, call Call) (name string, c audit.Claimed, end func() error, err error) {
	if a.Program != "" {
		return a.claimedOfCommand(ctx, call)
	}
	end = func() error { return nil }
	if a.Embedding == "" {
		return "", c, end, check.Wrong("a mechanism needs --embedding")
	}
	s, env, err := a.open(ctx, call, stream.FromUint64(a.Seed))
	if err != nil {
		return "", c, end, err
	}
	m, err := mechanisms.New(env, s)
	if err != nil {
		return "", c, end, err
	}
	name = fmt.Sprintf("%s %s", s.Mechanism, s.Variant)
	g := m.Guarantee()
	if d := m.Documents(); d != nil {
		c.Release = d.Draw
		c.Allowed = func(string, string) (float64, bool) { return g.Epsilon, g.Holds() }
		return name, c, end, nil
	}
	return name, sharedByWords(m, env.Tokens), end, nil
}

// sharedByWords is a mechanism of words whose ε is that of a document.
func sharedByWords(m *mechanisms.Mechanism, tokens func(string) []string) audit.Claimed {
	g := m.Guarantee()
	v := m.Vocabulary()
	ids := func(text string) (words []mechanisms.WordID) {
		for _, token := range tokens(text) {
			words = append(words, v.ID(token))
		}
		return words
	}
	allowed := func(a, b string) (bound float64, ok bool) {
		before := ids(a)
		after := ids(b)
		if !g.Holds() || len(before) != len(after) || len(before) == 0 {
			return 0, false
		}
		for i, x := range before {
			y := after[i]
			if x == y {
				continue
			}
			if x < 0 || y < 0 || !g.Promises(x, y) || g.Distance == nil {
				return 0, false
			}
			bound += g.Epsilon / float64(len(before)) * g.Distance(x, y)
		}
		return bound, true
	}
	release := func(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error) {
		shared, err := mechanisms.OfDocument(m, mechanisms.Random)
		if err != nil {
			return nil, err
		}
		private, err := mechanisms.PrivatizeText(ctx, shared, list.Map(texts, tokens),
			mechanisms.TextOptions{Seeds: seeds})
		return list.Map(private, func(d []string) string { return strings.Join(d, " ") }), err
	}
	return audit.Claimed{Release: release, Allowed: allowed}
}

// claimedOfCommand is a command, for which ε is claimed between any two texts with words. One
// of tokens gets those that white space separates.
func (a Auditing) claimedOfCommand(ctx context.Context, call Call) (name string, c audit.Claimed, end func() error,
	err error) {
	end = func() error { return nil }
	args, err := external.Split(a.Program)
	if err != nil {
		return "", c, end, Usage(err)
	}
	var options external.Options
	if a.Embedding != "" {
		env, err := a.environment(ctx, call, stream.FromUint64(a.Seed))
		if err != nil {
			return "", c, end, err
		}
		options.Vectors = env.Space.WriteText
	}
	command, err := external.Open(ctx, args, options)
	if err != nil {
		return "", c, end, err
	}
	m, err := command.At(a.Epsilon)
	if err != nil {
		return "", c, command.Close, Usage(err)
	}
	epsilon := a.Epsilon
	g := m.Guarantee()
	if g.Delta > 0 {
		err = check.Wrong("delta = %v: only guarantees of documents without delta are audited", g.Delta)
		return "", c, command.Close, err
	}
	if g.Metric == mechanisms.AnyDocuments {
		epsilon = g.Epsilon
	}
	c.Allowed = func(x, y string) (float64, bool) {
		before := strings.Fields(x)
		after := strings.Fields(y)
		different := m.ReadsText() || !slices.Equal(before, after)
		return epsilon, different && len(before) > 0 && len(after) > 0
	}
	c.Release = m.RewriteTexts
	if !m.ReadsText() {
		c.Release = func(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error) {
			private, err := m.Rewrite(ctx, list.Map(texts, strings.Fields), seeds)
			return list.Map(private, func(d []string) string { return strings.Join(d, " ") }), err
		}
	}
	return command.Hello.Name, c, command.Close, nil
}
