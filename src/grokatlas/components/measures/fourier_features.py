"""Fourier features of a first layer on modular addition."""

import numpy as np
import pandas as pd

from grokatlas.engine.contracts import FinishedRun, Measure

NEEDS = ["snapshots"]


def build(*, parameter: str) -> Measure[FinishedRun]:
    """Real and imaginary parts of the discrete Fourier transform of E over tokens.

    ``F_k = (1/p) sum_j exp(-2 pi i j k / p) E_j`` for k = 1 ... (p-1)/2, E ``[p, H]``: p - 1
    vectors of length H. Source: arXiv 2511.01938, figure 4.

    Args:
        parameter: name of the first layer's weight ``[H, p]``, the transpose of E.

    Returns:
        a function of a finished run, giving one row for each member, snapshot ``step`` and ordered
        pair of features: ``feature`` and ``other`` (0 ... p-2: Re F_1, Im F_1, Re F_2, ...), their
        ``cosine``, the cosine of their entrywise absolute values ``absolute_cosine``, and the
        ``norm`` of the first. Cosines are plain, without centring: the paper names no measure.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        frames = []
        for step, parameters in run.snapshots.items():
            for member, weight in enumerate(parameters[parameter]):
                frames.append(_pairs(_features(weight.T)).assign(member=member, step=step))
        return pd.concat(frames, ignore_index=True)

    return measure


def _features(embedding: np.ndarray) -> np.ndarray:
    """``[p - 1, H]``: Re F_1, Im F_1, Re F_2, ..."""
    tokens = len(embedding)
    transform = np.fft.fft(embedding.astype(np.float64), axis=0, norm="forward")
    frequencies = transform[1 : (tokens - 1) // 2 + 1]
    return np.stack([frequencies.real, frequencies.imag], axis=1).reshape(-1, embedding.shape[1])


def _pairs(features: np.ndarray) -> pd.DataFrame:
    first, second = np.indices((len(features),) * 2).reshape(2, -1)
    norms = np.linalg.norm(features, axis=1)
    return pd.DataFrame(
        {
            "feature": first,
            "other": second,
            "cosine": _cosines(features).ravel(),
            "absolute_cosine": _cosines(np.abs(features)).ravel(),
            "norm": norms[first],
        }
    )


def _cosines(vectors: np.ndarray) -> np.ndarray:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units @ units.T
