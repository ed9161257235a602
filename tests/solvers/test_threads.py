"""Threads: what the user asks for is what the libraries use, and the allocation says how many it were."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import highspy
import numpy as np
import pytest
import scipy.linalg  # noqa: F401 (its library is there)
from threadpoolctl import ThreadpoolController, threadpool_limits
from tolerances import RESIDUAL

import fairalloc as fa
from fairalloc.models.examples.generators import generic
from fairalloc.models.files.jsonio import allocation_document
from fairalloc.solvers.method import Limits
from fairalloc.solvers.running.threads import THREADED, limited_threads, threads_used

GENERIC = generic(6, 3, 2)


def test_the_libraries_use_what_is_asked_for_and_then_what_they_used():
    before = threads_used()
    for threads in (1, 2):
        with limited_threads(threads, 0):
            assert threads_used() == threads
    with limited_threads(None, 0):
        assert threads_used() == before
    assert threads_used() == before


def of_libraries():
    """How many threads the BLAS of NumPy's wheel has, and that of SciPy's; others may have been built for one."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    named = {owner: [one for one in libraries if owner in Path(one.filepath).parent.name] for owner in ("numpy", "scipy")}
    return {owner: {one.num_threads for one in its} for owner, its in named.items()}


@pytest.mark.parametrize(("threads", "arcs"), [(2, 0), (2, THREADED), (None, THREADED)])
def test_only_one_library_has_several_threads(threads, arcs):
    both = {"numpy": {2}, "scipy": {2}}
    with threadpool_limits(2):
        assert of_libraries() == both
        with limited_threads(threads, arcs):
            assert of_libraries() == {"numpy": {1}, "scipy": {2}}
        assert of_libraries() == both
        with limited_threads(None, THREADED - 1):
            assert of_libraries() == both  # looking for the libraries is not worth it


def test_solves_in_threads_of_the_caller_leave_the_libraries_alone():
    def look():
        with limited_threads(None, THREADED):
            return of_libraries()

    with threadpool_limits(2), ThreadPoolExecutor(1) as pool:
        assert pool.submit(look).result() == of_libraries()
        assert look() != of_libraries()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("limit", [None, 60.0])
def test_an_allocation_says_how_many_threads_there_were(threads, limit):
    seen = []

    def look(instance, mechanism, limits: Limits) -> np.ndarray:
        seen.append((threads_used(), limits.threads))
        return np.zeros(len(instance.arcs))

    found = fa.solve(GENERIC, "nb", look, threads=threads, time_limit=limit, isolate=False)
    assert found.threads == threads
    assert seen == [(threads, threads)]
    assert allocation_document(found)["stats"]["threads"] == threads


def test_without_a_word_the_environment_counts():
    assert fa.solve(GENERIC, "drfh").threads == threads_used()


@pytest.mark.parametrize("method", ["highs", "interior-point"])
def test_threads_do_not_change_the_answer(method):
    one, two = (fa.solve(GENERIC, "drfh", method, threads=threads) for threads in (1, 2))
    again = fa.solve(GENERIC, "drfh", method, threads=1)  # HiGHS keeps the number of its first use unless it is told
    assert one.claims_success
    assert two.claims_success
    assert again.threads == 1
    np.testing.assert_allclose(two.tasks, one.tasks, rtol=RESIDUAL)


@pytest.mark.parametrize("method", ["pyomo:highs", "njc-milp", "njc-enumeration"])
def test_threads_of_one_call_do_not_stay_with_highs(method):
    """It refused one thread after two, and the enumeration said that there was no allocation."""
    one = fa.Instance([[1, "1/4"], ["1/4", 1]], [[3, 3]])
    assert fa.solve(one, "drfh", "highs", threads=2).claims_success
    callers = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 2)):
        callers.setOptionValue(option, value)
    callers.run()
    asked = {} if method == "pyomo:highs" else {"objective": "sum"}
    assert fa.solve(one, "njc" if asked else "drfh", method, isolate=False, **asked).claims_success


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "two", 100_000])
def test_threads_that_are_no_number_are_one_sentence(threads):
    with pytest.raises(fa.InstanceError, match=r"threads is .*, but it must be a whole number from 1 to 1024 or None") as told:
        fa.solve(GENERIC, "drfh", threads=threads)
    assert "\n" not in str(told.value)
