"""A mechanism as a transformer of scikit-learn."""

from __future__ import annotations

from typing import Any, Iterable

from sklearn.base import BaseEstimator, TransformerMixin

from ._mechanism import Mechanism


class Privatizer(TransformerMixin, BaseEstimator):
    """Privatises texts in a pipeline. ``fit`` learns nothing.

    ``mechanism``, ``epsilon``, ``embedding``, ``parameters``, ``seed`` and ``options`` (a dict of the other keywords)
    are those of :class:`Mechanism`. Without a seed each ``transform`` is another draw.
    """

    def __init__(self, mechanism: str = "cmp", epsilon: float = 10.0, embedding: str = "generated",
                 parameters: dict[str, object] | None = None, seed: int | None = None,
                 options: dict[str, object] | None = None) -> None:
        self.mechanism, self.epsilon, self.embedding = mechanism, epsilon, embedding
        self.parameters, self.seed, self.options = parameters, seed, options

    def fit(self, texts: Iterable[str], y: Any = None) -> "Privatizer":
        return self

    def transform(self, texts: Iterable[str]) -> list[str]:
        """The private texts, as many as there are and in their order; raises MldpError."""
        with Mechanism(self.mechanism, self.epsilon, self.embedding, parameters=self.parameters, seed=self.seed,
                       **(self.options or {})) as m:
            return m.privatise(texts)

    def __sklearn_is_fitted__(self) -> bool:
        return True
