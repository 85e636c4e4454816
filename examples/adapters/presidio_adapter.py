#!/usr/bin/env python3
"""Presidio as a mechanism of mldp: presidio_adapter.py [ENTITY ...].

What it finds of the entities (all that it knows, without a list) is replaced by
their kind, such as <PERSON>. It has no epsilon: one value in a study is enough.
Needs presidio-analyzer and presidio-anonymizer with a model, and mldpbench.
Interface: microsoft.github.io/presidio, analyzer and anonymizer; never run with
it.
"""
import functools
import sys

from mldpbench import mechanism


@functools.cache
def engines():
    from presidio_analyzer import AnalyzerEngine
    from presidio_anonymizer import AnonymizerEngine
    return AnalyzerEngine(), AnonymizerEngine()


@mechanism("presidio", text=True, aligned=False, guarantee={"reason": "entities are replaced, without noise"})
def private(text, epsilon, rng):
    analyzer, anonymizer = engines()
    found = analyzer.analyze(text=text, entities=sys.argv[1:] or None, language="en")
    return anonymizer.anonymize(text=text, analyzer_results=found).text


if __name__ == "__main__":
    private.serve()
