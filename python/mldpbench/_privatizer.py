"""A mechanism as a transformer of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin

from ._mapper import mapper
from ._mechanism import Mechanism
from ._program import MldpError


class Privatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Privatises texts in a pipeline. ``fit`` learns nothing. Without a seed each ``transform`` is another draw.

    Args:
        mechanism, epsilon, embedding, parameters, seed: those of :class:`Mechanism`; vectors must be named.
        key, release, text, id: those of :func:`mapper`. With a key a table with the columns of text and id is
            privatised, in place of texts, and comes out the same in each ``transform``.
        options: a dict of the other keywords, such as ``{"keep_words": ["the"]}``.
        missing: that of :meth:`Mechanism.privatise`.
    """

    def __init__(self, mechanism: str = "cmp", epsilon: float = 10.0, embedding: str | None = None,
                 parameters: dict[str, object] | None = None, seed: int | None = None,
                 options: dict[str, Any] | None = None, missing: str = "refuse", key: str | None = None,
                 release: str | None = None, text: str | None = None, id: str | None = None) -> None:
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.embedding = embedding
        self.parameters = parameters
        self.seed = seed
        self.options = options
        self.missing = missing
        self.key = key
        self.release = release
        self.text = text
        self.id = id

    def fit(self, texts: Iterable[Any], y: Any = None) -> Privatizer:
        """Learns nothing.

        Args:
            texts: are not read.
            y: is not read.

        Returns:
            Itself.
        """
        return self

    def transform(self, texts: Iterable[Any]) -> list[Any]:
        """Privatises texts.

        Args:
            texts: as many as wanted; with a key a table that has them and their ids.

        Returns:
            The privatised texts, in their order.

        Raises:
            MldpError: as :class:`Mechanism` and its ``privatise`` do.
        """
        if self.key is not None:
            return self._keyed(texts)
        with Mechanism(self.mechanism, self.epsilon, self.embedding, parameters=self.parameters, seed=self.seed,
                       **(self.options or {})) as m:
            return m.privatise(texts, missing=self.missing)

    def _keyed(self, table: Any) -> list[Any]:
        """The privatised texts of a table with ids."""
        if self.embedding is None or self.text is None:
            raise MldpError("a key needs an embedding, a column of text and one of id", 2)
        private = mapper(mechanism=self.mechanism, epsilon=self.epsilon, embedding=self.embedding, text=self.text,
                         key=self.key, release=self.release, id=self.id, parameters=self.parameters,
                         **({} if self.seed is None else {"seed": self.seed}), **(self.options or {}))
        return list(private(table)[self.text])

    def __sklearn_is_fitted__(self) -> bool:
        return True
