"""mldp as a step of datatrove: the text of each document becomes private, its id and metadata stay.

Tried with datatrove 0.10.1. Documents of one run need ids of their own, as its readers give them.
"""
import itertools

from datatrove.pipeline.base import PipelineStep

import mldpbench


class Privatise(PipelineStep):
    name = "mldp"
    type = "private"

    def __init__(self, **of_mapper):
        """Takes the keywords of mldpbench.mapper but text and id."""
        super().__init__()
        self.private = mldpbench.mapper(text="text", id="id", **of_mapper)

    def run(self, data, rank=0, world_size=1):
        documents = iter(data)
        while batch := list(itertools.islice(documents, 1000)):
            table = {"id": [d.id for d in batch], "text": [d.text for d in batch]}
            for document, document.text in zip(batch, self.private(table)["text"]):
                yield document
