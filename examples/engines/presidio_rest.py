"""Presidio first, then mldp: what the analyzer finds is masked, all that it does not find goes through mldp.

Tried with presidio-anonymizer 2.2.366. `found` are the results of an AnalyzerEngine.
"""
import itertools

from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult
from presidio_anonymizer.operators import Operator, OperatorType


class Rest(Operator):
    def operate(self, text, params=None):
        return params["mechanism"].privatise([text], ids=[f"{params['row']} {next(params['parts'])}"])[0]

    def validate(self, params=None):
        pass

    def operator_name(self):
        return "mldp"

    def operator_type(self):
        return OperatorType.Anonymize


def private(text, found, mechanism, row):
    """The text of a row, whose id is its own; mechanism is an mldpbench.Mechanism with a key."""
    ends = [0, *(position for f in sorted(found, key=lambda f: f.start) for position in (f.start, f.end)), len(text)]
    gaps = [RecognizerResult("REST", start, end, 1.0) for start, end in zip(ends[::2], ends[1::2]) if start < end]
    engine = AnonymizerEngine()
    engine.add_anonymizer(Rest)
    rest = OperatorConfig("mldp", {"mechanism": mechanism, "row": row, "parts": itertools.count()})
    return engine.anonymize(text, [*found, *gaps], {"REST": rest}).text
