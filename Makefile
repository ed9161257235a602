# make bench : the comparison of the solvers, in one command      make test : the whole test suite
# make lint  : style and types                                    make clean : forget the environment
# make statements : write docs/STATEMENTS.md again

PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: bench test lint statements clean

bench: .venv/bench.stamp
	$(BIN)/fairalloc bench run first

test: .venv/test.stamp
	@sh tests/native_ipopt.sh $(BIN)
	$(BIN)/pytest -n 2

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@rm -rf build && $(BIN)/pip install -q --no-deps --no-build-isolation --target build/installed . && rm -rf *.egg-info
	cd build && MYPYPATH=installed ../$(BIN)/mypy --strict --config-file ../pyproject.toml --python-executable ../$(BIN)/python -p fairalloc
	@rm -rf build

statements: .venv/bench.stamp
	$(BIN)/python -c 'from fairalloc.theorems.pages import write_statements_page; write_statements_page("docs/STATEMENTS.md")'

clean:
	rm -rf .venv build *.egg-info

.venv/pip.stamp:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "fairalloc needs Python 3.11 or newer: make PYTHON=python3.12"'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q "setuptools>=77" wheel
	@touch $@

.venv/bench.stamp: pyproject.toml .venv/pip.stamp
	@echo "installing fairalloc and its solvers from wheels into .venv (about a minute, once)"
	$(BIN)/pip install -q --only-binary :all: --no-build-isolation -e ".[plots,traces]"
	@touch $@

.venv/test.stamp: pyproject.toml .venv/bench.stamp
	$(BIN)/pip install -q --only-binary :all: --no-build-isolation -e ".[dev]"
	@touch $@
