package models

func init() {
	parameters := []Parameter{
		atLeast("hidden", 1, 100), // size of the hidden state
		dropoutParameter,
		atLeast("length", 1, 500),        // tokens of a sequence: of a longer text the last ones, before a shorter one zeros
		oneOf("weights", "last", "best"), // weights kept: those of the last epoch or of the best
		atLeast("patience", 1, 3),        // epochs without a lower validation loss before stopping
	}
	for _, p := range withDefaults(scheduleParameters, map[string]any{"clip": 0.0}) {
		if p.Name != "patience" {
			parameters = append(parameters, p)
		}
	}
	Register(Definition{
		Name:       "lstm-2024",
		Parameters: parameters, Tokenized: true,
		// The network is that of the model lstm, whose initial weights are Keras'
		// own; how it is fed and when it stops differ (train.ipynb, util/train.py
		// of the replication package of Meisenbacher et al. 2024).
		New: func(o Options) Classifier { return newLSTM("lstm-2024", 1, o) },
	})
}
