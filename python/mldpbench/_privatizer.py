"""A mechanism as a transformer of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin

from ._mechanism import Mechanism


class Privatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Privatises texts in a pipeline. ``fit`` learns nothing. Without a seed each ``transform`` is another draw.

    Args:
        mechanism, epsilon, embedding, parameters, seed: those of :class:`Mechanism`; vectors must be named.
        options: a dict of the other keywords, such as ``{"keep_words": ["the"]}``.
        missing: that of :meth:`Mechanism.privatise`.
    """

    def __init__(self, mechanism: str = "cmp", epsilon: float = 10.0, embedding: str | None = None,
                 parameters: dict[str, object] | None = None, seed: int | None = None,
                 options: dict[str, Any] | None = None, missing: str = "refuse") -> None:
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.embedding = embedding
        self.parameters = parameters
        self.seed = seed
        self.options = options
        self.missing = missing

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
            texts: as many as wanted.

        Returns:
            The private texts, in their order.

        Raises:
            MldpError: as :class:`Mechanism` and its ``privatise`` do.
        """
        with Mechanism(self.mechanism, self.epsilon, self.embedding, parameters=self.parameters, seed=self.seed,
                       **(self.options or {})) as m:
            return m.privatise(texts, missing=self.missing)

    def __sklearn_is_fitted__(self) -> bool:
        return True
