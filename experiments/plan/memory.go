package plan

import (
	"slices"

	"mldpbench/experiments/lab"
	"mldpbench/models"
	"mldpbench/models/attack"
)

// memory is a generous estimate, in bytes, of a unit on top of shared data. It
// is called after the data are open.
func (p *Plan) memory(u *unit) int64 {
	const process, recurrentNet, typicalWords = 64 << 20, 400 << 20, 30_000 // the last of a whole embedding
	const perToken, perWord = 64, 8 << 10                                   // string header, ids, features; tables of the selection family
	size := lab.Size{Words: typicalWords}
	if u.spec.Dataset.Name != "" {
		size = p.lab.Size(u.spec.Sample())
	}
	weight := u.spec.Mechanism.Memory() + process + perToken*int64(size.All()) + perWord*int64(size.Words)
	if d, err := models.Find(u.query.Model.Name); err == nil && !d.Vectors {
		weight += recurrentNet
	}
	attackers, o := u.query.Attackers()
	if slices.ContainsFunc(attackers, func(a attack.Definition) bool {
		return slices.Contains(a.Needs, attack.NeedsModel) && slices.Contains(a.Needs, attack.NeedsChannel)
	}) { // the probabilities of all outputs that are masked, in the validation split too, for every word; and garbage
		weight += 2 * 8 * int64(o.Masked+o.Masked/3) * int64(size.Words)
	}
	return weight
}
