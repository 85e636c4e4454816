package models

import "fmt"

func init() {
	parameters := []Parameter{
		atLeast("hidden", 1).is(100, "size of the hidden state"),
		dropoutParameter,
		atLeast("length", 1).is(500, "tokens of a sequence: of a longer text the last ones, before a shorter one zeros"),
		oneOf("weights", "last", "best").is("last", "weights kept: those of the last epoch or of the best"),
		atLeast("patience", 1).is(3, "epochs without a lower validation loss before stopping"),
	}
	for _, p := range withDefaults(scheduleParameters, map[string]any{"clip": 0.0}) {
		if p.Name != "patience" {
			parameters = append(parameters, p)
		}
	}
	Register(Definition{
		Name: "lstm-2024",
		Doc: "the LSTM of the 2024 study's code: reads unmasked zeros in front of every text, keeps the weights of " +
			"the last epoch",
		Parameters: parameters, Tokenized: true,
		// The network is that of the model lstm, whose initial weights are Keras'
		// own; how it is fed and when it stops differ (train.ipynb, util/train.py
		// of the replication package of Meisenbacher et al. 2024).
		New: func(o Options) (Classifier, error) {
			if o.Embedding.Len() == 0 {
				return nil, fmt.Errorf("model lstm-2024: needs an embedding")
			}
			return newLSTM("lstm-2024", 1, o), nil
		},
	})
}
