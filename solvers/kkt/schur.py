r"""The arrow: the linear system of every Newton step of this package, and what follows on users and arcs once prices are known.

Of max-min rounds, nb and fds (interior_point/), of the game for every alpha, ps-dsf and ps-dsf-tdm (game/central_path.py), with
unknowns p for rows (server, resource), l for users, and f for what flows away from arcs:

    f_a = theta_a (charge_a p - l_n)      for every arc a of user n         theta > 0;  charge_a has R numbers
    S p + load f = right                  for every row                     S >= 0
    E l - owner f = users                 for every user                    E >= 0

Eliminating f leaves an arrow with a diagonal shaft:

    [ P + S    -B   ] [p]   [right]       P = load diag(theta) charge       K blocks R x R
    [ -C^T   D + E  ] [l] = [users]       B = load diag(theta) owner^T,  C^T = owner diag(theta) charge      the coupling
                                          D = owner diag(theta) owner^T     diagonal

Where all charges are the loads the matrix is symmetric, and positive definite; in the game an arc is charged for prices by what
they change of its costs, and the factor is that of LU.

1. Sum theta by user: the shaft. Choose each user's pivot, its arc with the largest theta.
2. The weights of the blocks that remain when l is eliminated: theta (D + E - theta) / (D + E), the bracket of pivots without
   cancellation. A user with one arc in use thus costs neither digits nor a row.
3. Eliminate one side and factorise the rest (below).
4. From p follow l, and f on all arcs; that of a pivot, which rounding may lose, is what the user's other arcs leave.

**What is left is factorised** in one of these ways, of which `plan_for` chooses by sizes, with F for D + E:

- "rows": users eliminated, Cholesky factor of P + S - B F^-1 C^T, dense with K R rows; in the game LU, whose sign is wanted, too.
  Rows that one user alone uses are eliminated with it (`SharedRows`).
- "sparse rows": the same matrix, formed and factorised sparse (sparse_factor.py): few pairs of servers have a user in common.
  Where most pairs have (`scattered`) it is a preconditioner without the coupling of arcs with a small part of their user's theta.
- "sparse equations": rows may be implied by others and the matrix singular. SuperLU's factor with the largest guard.
- "users": the blocks P + S eliminated, Cholesky factor of F - B^T (P + S)^-1 B, dense with N rows: for many servers. A user with
  one large theta loses its digits, so the last ones are left to "rows" where that can be formed, or to dominant.py.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.kkt.dominant import Balance, factor_of_dominant
from fairalloc.solvers.kkt.loads import (
    LARGE,
    SPARSE,
    SPARSEST,
    BlockLoads,
    Loads,
    OwnRowLoads,
    SparseLoads,
    couples_few,
    largest_of_users,
    own_rows,
    uses_few,
)
from fairalloc.solvers.kkt.matrices import (
    Dense,
    ScaledLU,
    blas,
    cholesky,
    dense,
    on_the_diagonal,
    put_on_the_diagonal,
    separated,
    solved,
)
from fairalloc.solvers.kkt.sparse_factor import SparseFactor, SparseLU

Plan: TypeAlias = Literal["rows", "sparse rows", "sparse equations", "users", ""]
Solve: TypeAlias = Callable[[Floats], Floats]

FEW = 2
"""How many times as many rows "rows" may have where users have few arcs, as their coupling needs no memory."""

SCATTERED = 40.0
"""How much slower a sparse product is than BLAS for the same number of multiplications."""

NEGLIGIBLE = 1e-15
"""Arcs with a smaller part of what their user's have together couple nothing in double precision: nearly all near the answer."""

BORDERED = 1e-6
"""Own rows with a smaller pivot, in parts of what the border adds to it, are not eliminated before it."""

ROUGH = 2e-6
"""Where arcs with a larger part are left out, single precision is good enough for the dense part of a sparse factor."""


class Factor(NamedTuple):
    """What solves for p, and the sign of the determinant of what was factorised."""

    solve: Solve
    sign: float = 1.0


def plan_for(instance: Instance, most: int) -> Plan:
    """The cheapest exact way; "" where no dense matrix has at most `most` rows and users have many servers in common."""
    rows, users, limit = instance.K * instance.R, instance.N, most_rows(instance, most)
    if found := own_rows(instance):
        return "rows" if found.servers * found.width <= limit else ""
    if uses_few(instance):
        return "sparse rows" if couples_few(instance) else "rows" if rows <= limit else ""
    if rows > LARGE and not (_grid(instance) or _overlapping(instance)):
        return "sparse rows"
    if users <= most and (rows > limit or (rows > LARGE and users < 0.25 * rows)):
        return "users"
    return "rows" if rows <= limit else ""


def most_rows(instance: Instance, most: int) -> int:
    """How many rows the dense matrix of "rows" may have, if `most` where users have many arcs."""
    return FEW * most if uses_few(instance) or not _grid(instance) else most


def scattered(instance: Instance) -> bool:
    """Whether users have few arcs but most pairs of servers a user in common, so that "sparse rows" is for preconditioners."""
    return instance.K * instance.R > LARGE and not (_grid(instance) or uses_few(instance)) and _overlapping(instance)


def _grid(instance: Instance) -> bool:
    """Whether arcs are as many as loads.py has grids for."""
    return SPARSEST * instance.A >= instance.N * instance.K


def _overlapping(instance: Instance) -> bool:
    """Whether so many pairs of servers have a user in common that the matrix of "rows" is better factorised dense."""
    pairs = (np.bincount(instance.arcs.user).astype(float) ** 2).sum()
    return bool(pairs > SPARSE * instance.K**2)


def plan_for_game(loads: Loads) -> Plan:
    """The cheaper way for these arcs where charges are not the loads."""
    return "sparse rows" if loads.K * loads.R > LARGE and SPARSEST * len(loads) < loads.N * loads.K else "rows"


def factorised(loads: Loads, head: "Elimination", plan: Plan) -> Factor:
    """What solves for p; LinAlgError where the matrix is symmetric, but not positive definite in floating point."""
    if isinstance(loads, OwnRowLoads):
        return Factor(SharedRows(loads, head).solve)
    if not isinstance(loads, SparseLoads):
        if loads.charging is not None:
            return _unsymmetric(loads, head, plan)
        if plan == "users":
            return Factor(_users(loads, head))
    ways = {"rows": _rows, "sparse rows": _sparse_rows, "sparse equations": _sparse_equations}
    return Factor(ways[plan](loads, head))


def _unsymmetric(loads: BlockLoads, head: "Elimination", plan: Plan) -> Factor:
    """The same by LU; what cannot be factorised has no sign, and solutions without numbers."""
    blocks = loads.blocks(head.own, head.twin_weights)
    try:
        _check_finite(blocks, head.s)
        here = np.arange(loads.R)
        blocks[:, here, here] += head.s.reshape(-1, loads.R)  # may be negative: a user's loads and charges need not rise together
        if plan == "sparse rows":
            factor: SparseLU | ScaledLU = SparseLU(blocks, _apart(loads, head))
        else:
            matrix = _coupled(loads, *_scaled(loads, head), np.float64)
            put_on_the_diagonal(matrix, blocks)
            factor = ScaledLU(matrix)
    except np.linalg.LinAlgError:
        return Factor(lambda right: np.full(len(right), np.nan), 0.0)
    return Factor(factor.solve, factor.sign)


def _rows(loads: BlockLoads | SparseLoads, head: "Elimination") -> Solve:
    matrix = loads.remaining(*_squares(loads, head), head.kind) if isinstance(loads, SparseLoads) else _whole(loads, head)
    if head.rho:
        syr = blas("syr", matrix.dtype)
        matrix = syr(0.5 * head.rho, head.along, a=matrix, lower=1, overwrite_a=1)
    diagonal = matrix.diagonal().astype(float)
    return _cholesky(matrix, lambda guard: _pivots(diagonal, head, guard), head.guards)


class SharedRows:
    """What is left of shared rows: own rows are eliminated first, but for those that have their pivot of the border, which stay.

    stays, root : (N,) whose own row stays, and the root of the pivot of each other one; inf where it stays
    coupling : (A,) the weights of C W^-1/2;  moved : (N,) W^-1/2 times the border's own rows
    rho, border : of the rows that are left, as in sparse_factor.py
    """

    def __init__(self, loads: OwnRowLoads, head: "Elimination") -> None:
        self.loads, rho = loads, 0.5 * head.rho
        apart, own = loads.deviations(head.theta, head.shaft, head.ends, largest_of_users(loads, head.theta))
        (s, s_own), (border, along) = loads.separate(head.s), loads.separate(head.along if rho else np.zeros(loads.R))
        own = own * (1.0 + head.guards[0]) + s_own
        self.stays = own < BORDERED * rho * along**2
        self.root = np.where(self.stays, np.inf, np.sqrt(np.where(own > 0, own, 1.0)))
        weights, self.moved = head.theta * apart, along / self.root
        self.coupling = weights / loads.of_users(self.root)
        self.rho = rho / (1.0 + rho * float(self.moved @ self.moved))
        border = border - loads.shared.rows(self.coupling * loads.of_users(self.moved))
        self.border = np.concatenate([border, along[self.stays]])
        self.factor = self._factorised(head, weights, np.concatenate([s, own[self.stays]]))

    def _factorised(self, head: "Elimination", weights: Floats, s: Floats) -> Solve:
        """Of M - C W^-1 C^T and the rows that stay, from the weights of C (A,), S of the shared rows and W + S of the others."""
        shared, kind = self.loads.shared, head.kind
        matrix = _whole(shared, head)
        first, size = s + self.rho * self.border**2, len(matrix)
        first[:size] += matrix.diagonal()
        whole = np.zeros((len(s), len(s)), kind, order="F")
        whole[:size, :size] = matrix + _coupled(shared, self.coupling, self.loads.counts, kind)
        staying = np.where(self.loads.of_users(self.stays), weights, 0.0)
        whole[size:, :size] = sp.csr_array(shared.sparse_coupling(staying))[self.stays].toarray()
        whole = blas("syr", kind)(self.rho, self.border, a=whole, lower=1, overwrite_a=1)
        left = whole.diagonal() + s
        return _cholesky(whole, lambda guard: np.where(first > 0, left + guard * first, 1.0), head.guards)

    def solve(self, right: Floats) -> Floats:
        """The solution for a right-hand side (rows,)."""
        loads, shared, coupling = self.loads, self.loads.shared, self.coupling
        blocks, own = loads.separate(right)
        half = own / self.root
        w = self.rho * float(self.moved @ half)
        rows = np.concatenate([blocks - shared.rows(coupling * loads.of_users(half)), own[self.stays]])
        p = self.factor(rows - w * self.border)
        w += self.rho * float(self.border @ p)
        blocks = p[: len(blocks)]
        own = (half - loads.totals(coupling * shared.priced(blocks)) - w * self.moved) / self.root
        own[self.stays] = p[len(blocks) :]
        return loads.joined(blocks, own)


def _whole(loads: BlockLoads, head: "Elimination") -> Dense:
    """(K R, K R) P - B F^-1 B^T, the lower triangle at least."""
    matrix = _coupled(loads, *_scaled(loads, head), head.kind)
    put_on_the_diagonal(matrix, loads.blocks(head.own, head.twin_weights))
    return matrix


def _squares(loads: SparseLoads, head: "Elimination") -> tuple[Floats, Floats]:
    """(A,) and (T,) the weights theta E / F of the squares of arcs, and theta theta / F of those of pairs."""
    return head.theta * loads.of_users(head.ends / head.shaft), -head.twin_weights


def _coupled(loads: BlockLoads, scaled: Floats, counts: NDArray[np.intp], kind: type[np.floating[Any]]) -> Dense:
    """(K R, K R) -B F^-1 C^T, the lower triangle at least where it is symmetric; a sparse product where that is cheaper."""
    if SCATTERED * np.mean(counts**2) <= loads.K**2:
        return dense(_product(loads, scaled), kind)
    left, charging = loads.coupling(scaled, kind).T, loads.charging
    if charging is None:
        return blas("syrk", left.dtype)(-1.0, left, lower=1)  # type: ignore[no-any-return]
    return blas("gemm", left.dtype)(-1.0, left, charging.coupling(scaled, kind).T, trans_b=1)  # type: ignore[no-any-return]


def _scaled(loads: BlockLoads, head: "Elimination") -> tuple[Floats, NDArray[np.intp]]:
    """(A,) the weights of the coupling B F^-1/2, 0 where it changes less than rounding or is of a server with itself alone;
    (N,) how many others each user has.
    """
    counted = head.theta > head.negligible * loads.of_users(head.shaft)
    counts = loads.totals(counted.astype(float))
    counted &= loads.of_users(counts) > 1.0
    scaled: Floats = np.where(counted, head.theta / loads.of_users(np.sqrt(head.shaft)), 0.0)
    return scaled, counts.astype(np.intp)


def _pivots(diagonal: Floats, head: "Elimination", guard: float) -> Floats:
    own = diagonal * (1.0 + guard) + head.s
    return np.where(own > 0, own, 1.0)  # nothing there: an equation that others imply, as the matrix is symmetric


def _cholesky(matrix: Dense, pivots: Callable[[float], Floats], guards: tuple[float, ...]) -> Solve:
    """In the precision of the matrix, by the least of the guards with which it is positive definite there."""
    diagonal = np.diag_indices(len(matrix))
    for guard in guards:
        matrix[diagonal] = pivots(guard)
        if (factor := cholesky(matrix)) is not None:
            return partial(solved, factor)
    raise np.linalg.LinAlgError


def _sparse_rows(loads: BlockLoads | SparseLoads, head: "Elimination") -> Solve:
    (blocks, apart), single = _separated(loads, head), head.negligible > ROUGH
    for guard in head.guards:
        with suppress(np.linalg.LinAlgError):
            return SparseFactor(_guarded(blocks, head, guard), apart, head.along, 0.5 * head.rho, head.most, single).solve
    raise np.linalg.LinAlgError


def _sparse_equations(loads: BlockLoads | SparseLoads, head: "Elimination") -> Solve:
    from scipy.sparse.linalg import splu

    blocks, apart = _separated(loads, head)
    matrix = sp.csc_array(apart + on_the_diagonal(_guarded(blocks, head, head.guards[-1])))
    try:
        factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError as error:
        raise np.linalg.LinAlgError from error
    return factor.solve  # type: ignore[no-any-return]


def _separated(loads: BlockLoads | SparseLoads, head: "Elimination") -> tuple[Floats, sp.bsr_array]:
    """The blocks on the diagonal without S, and the others; single numbers are the blocks of `SparseLoads`."""
    if isinstance(loads, SparseLoads):
        blocks, apart = separated(sp.bsr_array(loads.sparse_remaining(*_squares(loads, head)), blocksize=(1, 1)))
        _check_finite(apart.data)
    else:
        apart, blocks = _apart(loads, head), loads.blocks(head.own, head.twin_weights)
    _check_finite(blocks, head.s)
    return blocks, apart


def _apart(loads: BlockLoads, head: "Elimination") -> sp.bsr_array:
    """(K R, K R) -B F^-1 C^T without its blocks on the diagonal; LinAlgError where it has nan or inf."""
    apart = separated(_product(loads, _scaled(loads, head)[0]))[1]
    _check_finite(apart.data)
    return apart


def _check_finite(*numbers: Floats) -> None:
    """Raise LinAlgError where one of the system is nan or inf: SuperLU would write beyond its memory."""
    if not all(np.isfinite(values).all() for values in numbers):
        raise np.linalg.LinAlgError


def _product(loads: BlockLoads, scaled: Floats) -> sp.bsr_array:
    """(K R, K R) -B F^-1 C^T from the weights of the coupling (A,)."""
    coupling, charging = loads.sparse_coupling(scaled), loads.charging
    return coupling.T @ -(coupling if charging is None else charging.sparse_coupling(scaled))


def _guarded(blocks: Floats, head: "Elimination", guard: float) -> Floats:
    """(K, R, R) the blocks on the diagonal with S and the guard."""
    here = np.arange(blocks.shape[1])
    result = blocks.copy()
    result[:, here, here] = _pivots(blocks[:, here, here].ravel(), head, guard).reshape(-1, len(here))
    return result


def _users(loads: BlockLoads, head: "Elimination") -> Solve:
    of_servers, of_users = (_by_blocks if head.balance is None else _by_balance)(loads, head)

    def solve(right: Floats) -> Floats:
        l = of_users(loads.totals(head.theta * loads.priced(of_servers(right))))  # noqa: E741 (the letter above)
        return of_servers(right + loads.rows(head.theta * loads.of_users(l)))

    return solve


def _by_blocks(loads: BlockLoads, head: "Elimination") -> tuple[Solve, Solve]:
    """(P + S)^-1 and (F - B^T (P + S)^-1 B)^-1."""
    blocks = _guarded(loads.blocks(head.theta, np.zeros(loads.twins.shape[1])), head, head.guards[-1])
    inverse = np.linalg.inv(np.linalg.cholesky(blocks))
    coupling = loads.coupling(head.theta).reshape(loads.N, loads.K, loads.R).transpose(1, 0, 2)
    half = np.matmul(coupling, inverse.transpose(0, 2, 1)).transpose(1, 0, 2).reshape(loads.N, -1)
    matrix = blas("syrk", float)(-1.0, half.T, trans=1, lower=1)
    left = matrix.diagonal() + head.shaft
    if head.rho:
        matrix = blas("syr", float)(head.rho, head.border, a=matrix, lower=1, overwrite_a=1)
        left += head.rho * head.border**2

    def of_servers(right: Floats) -> Floats:
        once = inverse @ right.reshape(loads.K, loads.R, 1)
        return np.asarray(np.matmul(inverse.transpose(0, 2, 1), once).ravel())

    return of_servers, _cholesky(matrix, lambda guard: np.maximum(left, guard * head.shaft), head.guards)


def _by_balance(loads: BlockLoads, head: "Elimination") -> tuple[Solve, Solve]:
    """The same where there is a balance (dominant.py)."""
    assert head.balance is not None
    p, l, rows, users = head.balance  # noqa: E741
    inverse = p / (rows + loads.rows(head.theta * loads.of_users(l)))
    half = loads.coupling(head.theta)
    half *= np.sqrt(inverse)
    matrix = blas("syrk", float)(-1.0, half.T, trans=1, lower=1)
    users = users + loads.totals(head.theta * loads.priced(inverse * rows))
    return lambda right: inverse * right, partial(solved, factor_of_dominant(matrix, l, users))


class Elimination:
    """The arrow at one point; without `refined` the last digits are not kept, and there are no pivots.

    shaft : (N,) D + E, of `ends` E;  s : (K R,) S
    pivot, others : (N,) the first arc of each user with the largest theta, and the shaft without that arc
    factor : of what is left for the prices, once `factorise` was called, with these:
    own, twin_weights : (A,), (T,) with which the blocks of P - B (D + E)^-1 C^T on the diagonal are summed, without cancellation
    rho, border, along : of a term rho b b^T that is added to D + E, b (N,) and B (D + E)^-1 b (K R,), or rho = 0
    guards : added to diagonals before they are factorised, relative, one after the other where rounding leaves no positive pivot
    negligible : arcs with a smaller part of what their user's arcs have together couple nothing
    most : rows of a dense matrix, which without `refined` may be in single precision: that is twice as fast
    balance : positive prices with which the arrow is diagonally dominant, where there are any
    """

    factor: Factor

    def __init__(self, loads: Loads, theta: Floats, ends: Floats, s: Floats, refined: bool = True) -> None:
        self.loads, self.theta, self.ends, self.s, self.refined = loads, theta, ends, s, refined
        self.kind = np.float64 if refined else np.float32
        self.shaft = loads.totals(theta) + ends  # 1
        if refined:
            self.pivot, small = self._pivots(), theta.copy()
            small[self.pivot] = 0.0
            self.others = loads.totals(small) + ends

    def _pivots(self) -> Any:
        """An index of arrays (A,), of a stack (B, A)."""
        return largest_of_users(self.loads, self.theta)

    def factorise(
        self,
        plan: Plan,
        most: int,
        negligible: float,
        guards: Sequence[float] = (0.0,),
        border: tuple[float, Floats, Floats] | None = None,
        balance: Balance | None = None,
    ) -> None:
        """Steps 2 and 3; LinAlgError where a symmetric matrix is not positive definite. `border` are rho, border and along."""
        shaft = self.loads.of_users(self.shaft)
        rest, part = shaft - self.theta, self.theta / shaft
        if self.refined:
            rest[self.pivot] = self.others
        one, two = self.loads.twins
        self.own, self.twin_weights = part * rest, -part[one] * self.theta[two]
        self.rho, self.border, self.along = border or (0.0, np.zeros(0), np.zeros(0))
        self.guards, self.negligible, self.most, self.balance = tuple(guards), negligible, most, balance
        self.factor = factorised(self.loads, self, plan)

    def at_fixed_prices(self, pushed: Floats, users: Floats) -> tuple[Floats, Floats]:
        """What arcs gain, theta (pushed - v) (A,), and v (N,), where p = 0; E v is the sum of a user's gains and `users`."""
        loads, pivot = self.loads, self.pivot
        wanted = self.theta * pushed
        own = wanted[pivot]
        wanted[pivot] = 0.0
        others = loads.totals(wanted) + users
        v = (others + own) / self.shaft
        flow = self.theta * (pushed - loads.of_users(v))
        flow[pivot] = self.theta[pivot] * (pushed[pivot] * self.others - others) / self.shaft
        return flow, v

    def follow(self, priced: Floats, pushed: Floats, users: Floats) -> tuple[Floats, Floats, Floats]:
        """Step 4, from charge p (A,), its sums owner theta charge p (N,), and the right-hand side `users` (N,).

        It gives l (N,), charge p - l of the user (A,), and theta times that, the flow away from each arc.
        """
        l = (users + pushed) / self.shaft  # noqa: E741 (the letter above)
        reduced = priced - self.loads.of_users(l)
        flow = self.theta * reduced
        if self.refined:
            flow[self.pivot] = 0.0
            flow[self.pivot] = self.ends * l - users - self.loads.totals(flow)
        return l, reduced, flow
