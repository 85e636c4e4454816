package generated

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"mldpbench/stream"
)

// Styles are the private label: which of two interchangeable words a writer
// uses. They are independent of the topic of the text.
var Styles = []string{"plain", "varied"}

// Numbers of texts of the tasks with something to hide.
const (
	styledCount  = 5000
	userCount    = 240
	textsPerUser = 30
)

// How often a writer follows the style, and a user the user's own habits: the
// preferred topic and the preferred word of a slot.
const (
	styleWeight     = 0.4
	userTopicWeight = 0.6
	userWordWeight  = 0.6
)

// inStyle exchanges the words 0 and 1, 2 and 3, … of a slot: a plain writer
// prefers the first of each pair, a varied one the second.
func inStyle(rng *rand.Rand, s *Slot, style, i int) int {
	if rng.Float64() >= styleWeight {
		return i
	}
	if style == 0 {
		return i &^ 1
	}
	return min(i|1, len(s.Words)-1)
}

// Styled returns news items whose writer has a style, the same ones at every
// call; the caller must not change them. Every topic has both styles equally
// often.
var Styled = sync.OnceValue(func() []Document {
	seed := stream.FromUint64(1).Derive("generated", "styled")
	docs := make([]Document, styledCount)
	for i := range docs {
		style := i / len(topics) % len(Styles)
		g := *theGrammar()
		g.prefer = func(rng *rand.Rand, s *Slot, word int) int {
			return inStyle(rng, s, style, word)
		}
		docs[i] = g.news(seed.At(uint64(i)).Rand(), i%len(topics))
		docs[i].Style = style
	}
	return docs
})

// Users returns the texts of users, user by user, textsPerUser each, the same
// ones at every call; the caller must not change them. A user has a style, a
// most frequent topic and a favourite word of every slot.
var Users = sync.OnceValue(func() []Document {
	seed := stream.FromUint64(1).Derive("generated", "users")
	var docs []Document
	for u := range userCount {
		own := seed.At(uint64(u))
		style := u % len(Styles)
		topic := u / len(Styles) % len(topics)
		favourite := map[string]int{}
		habits := own.Derive("habits").Rand()
		for _, s := range theGrammar().slots {
			favourite[s.Name] = habits.IntN(len(s.Words))
		}
		g := *theGrammar()
		g.prefer = func(rng *rand.Rand, s *Slot, word int) int {
			if rng.Float64() < userWordWeight {
				return favourite[s.Name]
			}
			return inStyle(rng, s, style, word)
		}
		for i := range textsPerUser {
			rng := own.Derive("text").At(uint64(i)).Rand()
			label := topic
			if rng.Float64() >= userTopicWeight {
				label = rng.IntN(len(topics))
			}
			d := g.news(rng, label)
			d.Style = style
			d.User = fmt.Sprintf("user%03d", u)
			docs = append(docs, d)
		}
	}
	return docs
})
