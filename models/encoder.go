package models

// Encoder is the parameter that names a sentence encoder. A model that has it
// reads the vectors that this encoder gives to documents: whoever trains it makes
// them.
const Encoder = "encoder"

// Logistic regression on sentence vectors: what a transformer, which is not
// trained here itself, makes of released text.
func init() {
	Register(Definition{
		Name:       "encoder",
		Parameters: []Parameter{{Name: Encoder, Default: "sif"}, linearCost, iterations, stopGradient},
		New:        newLogistic,
	})
}
