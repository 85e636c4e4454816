"""BERTScore (Zhang et al. 2020, F1 in percent) as a measurement of a study; needs the package bert-score:

    metrics: {commands: [{name: bertscore, command: [python3, bertscore.py]}]}
"""
from bert_score import BERTScorer
from mldpbench import measurement

scorer = BERTScorer(lang="en", rescale_with_baseline=False)

@measurement("bertscore", title="BERTScore", unit="%", better="up")
def bertscore(original, private):
    return 100 * float(scorer.score([private], [original])[2])

bertscore.serve()
