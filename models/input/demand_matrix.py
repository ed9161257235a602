"""The demand vectors of all users, one below the other, as one sparse matrix: a user has as many rows as variants."""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats, frozen

Sparse = TypeVar("Sparse", sp.csr_array, sp.csc_array)


@dataclass(frozen=True, eq=False)
class Vectors:
    """The demand vectors of N users with R resources.

    matrix : (M x R) sparse, every stored entry > 0, sorted by rows and columns; the resource that one task takes
    first : (N + 1,) the rows first[n] to first[n + 1] are the variants of user n
    given : for each user what the exact data are read from; None where the floats are exact
    """

    matrix: sp.csr_array
    first: NDArray[np.intp]
    given: Any = None

    def __post_init__(self) -> None:
        read_only(self.matrix)
        frozen(self.first)

    @classmethod
    def of(cls, rows: Floats, first: NDArray[np.intp] | None = None) -> "Vectors":
        """Those of a dense (M, R) array; by default one variant for each user."""
        there = rows != 0
        start = np.concatenate(([0], np.cumsum(np.count_nonzero(there, axis=1))))
        matrix = sp.csr_array((rows[there], small(np.nonzero(there)[1]), small(start)), shape=rows.shape)
        return cls(matrix, np.arange(len(rows) + 1) if first is None else first)

    @classmethod
    def of_sparse(cls, matrix: sp.csr_array, first: NDArray[np.intp] | None = None) -> "Vectors":
        """Those of a matrix of SciPy that is nobody else's; by default one variant for each user."""
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return cls(matrix, np.arange(matrix.shape[0] + 1) if first is None else first)

    def __len__(self) -> int:
        return len(self.first) - 1

    @cached_property
    def is_single(self) -> bool:
        """Whether every user has exactly one."""
        return int(self.first[-1]) == len(self.first) - 1

    @property
    def counts(self) -> NDArray[np.intp]:
        """(N,) variants of each user."""
        return np.diff(self.first)

    @cached_property
    def user(self) -> NDArray[np.intp]:
        """(M,) whose each row is."""
        return frozen(np.repeat(np.arange(len(self)), self.counts))

    def dense(self) -> tuple[Floats, ...]:
        """For each user (V_n, R)."""
        everything = frozen(self.matrix.toarray())
        return tuple(everything[a:b] for a, b in zip(self.first[:-1].tolist(), self.first[1:].tolist(), strict=True))

    def chosen(self, users: NDArray[np.intp]) -> "Vectors":
        """Those of some users, in this order."""
        counts = self.counts[users]
        first = np.concatenate(([0], np.cumsum(counts)))
        rows = np.repeat(self.first[users] - first[:-1], counts) + np.arange(first[-1])
        return Vectors(self.matrix[rows], first)

    def content(self) -> tuple[bytes, ...]:
        """What two have in common where they are equal."""
        places = (self.first, self.matrix.indptr, self.matrix.indices)
        return *(place.astype(np.int64).tobytes() for place in places), self.matrix.data.tobytes()


def index_type(size: int) -> type[np.signedinteger[Any]]:
    """Of indices below a size in sparse matrices: 4 bytes each where they fit; arrays of SciPy keep the type they are given."""
    return np.int32 if size < 2**31 else np.int64


def small(index: NDArray[Any]) -> NDArray[Any]:
    """The indices in their `index_type`."""
    return index.astype(index_type(int(index.max(initial=0))), copy=False)


def small_range(stop: int) -> NDArray[Any]:
    """0, 1, .. below `stop`, in their `index_type`."""
    return np.arange(stop, dtype=index_type(stop))


def scaled_rows(matrix: sp.csr_array, factor: Floats) -> sp.csr_array:
    """The matrix with each row multiplied by a factor."""
    with np.errstate(over="ignore"):  # what is out of range is said of loads
        return with_data(matrix, matrix.data * np.repeat(factor, np.diff(matrix.indptr)))


def read_only(matrix: Sparse) -> Sparse:
    """The matrix, whose arrays are made read-only."""
    for array in (matrix.data, matrix.indices, matrix.indptr):
        frozen(array)
    return matrix


def with_data(matrix: Sparse, data: Floats) -> Sparse:
    """A sparse matrix with the same places and other numbers, which are made read-only; nothing is checked again."""
    result = copy(matrix)
    result.data = frozen(data)
    return result
