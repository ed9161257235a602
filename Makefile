# make bench : the comparison of the solvers, in one command      make test : the quick tests
# make test-deep : the other tests, longer and with more examples
# make coverage : the same, measured, with a floor
# make checked : every certificate of a machine proof, as a stranger checks it; make proofs : and that it is of the formulas of
# today; make certificates : search those that are missing
# make lint  : style, types, dead code, imports                   make test-lowest : its quick part with the lowest versions
# make system: the Ipopt library, from the system's packages      make witnesses : write docs/witnesses again
# make notebooks : write the .ipynb anew from the .py and execute them, with outputs, into build/notebooks
# make experiments : run the experiments in full, 8 hours at most; what is on record is not run again; write docs/EXPERIMENTS.md
# make docs : the site, build/docs/index.html; notebooks that are not executed yet are; make docs NOTEBOOKS= leaves them as they are
# make dist  : the wheel and the source distribution, built, checked and tried in an empty environment: dist/
# make install : everything that the targets above install on demand, for then they can run side by side: make -j2 lint docs
# make clean : forget the environments

PYTHON ?= python3
BIN := .venv/bin
LOWEST := .venv-lowest/bin
TREE := --no-build-isolation --config-settings editable_mode=compat -e
WHEELS := $(BIN)/pip install -q --no-compile --only-binary :all: $(TREE)
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# What Python compiles it keeps: the tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE =

.PHONY: bench checked proofs certificates test test-deep coverage test-lowest lint system witnesses experiments notebooks docs dist install clean

# Two solves at a time, each on a core of its own: all within three minutes, with the installation.
bench: .venv/bench.stamp
	$(BIN)/fairalloc bench run first --jobs 2

# Two processes of one thread each: with two threads each they wait for each other.
test: .venv/test.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 $(MEASURED)

test-deep: MEASURED := -m deep
test-deep: test

coverage: MEASURED := --cov --cov-report=
coverage: test

test-lowest: .venv-lowest/stamp
	$(LOWEST)/pytest -n 2 tests/models tests/formulations tests/solvers tests/analysis tests/interface

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/vulture
	$(BIN)/mypy --strict -p fairalloc
	MYPYPATH=docs/tools $(BIN)/mypy --strict docs/tools/*.py
	$(BIN)/basedpyright --level error --pythonpath $(BIN)/python

system: .venv/test.stamp
	@sh tests/native_ipopt.sh $(BIN)

witnesses: .venv/bench.stamp
	$(BIN)/python -c 'from fairalloc.theorems.standalone.script import write_scripts; write_scripts("docs/witnesses")'

checked: .venv/test.stamp
	@$(BIN)/python -m fairalloc.theorems.certificates.renew unpack build/certificates
	@set -e; for file in build/certificates/*.json; do env -i $(BIN)/python -I theorems/certificates/check_certificate.py $$file; done

# That the texts of the certificates are those which the definitions make today, too.
proofs: checked
	$(BIN)/python -m fairalloc.theorems.certificates.renew compare

certificates: .venv/test.stamp
	$(BIN)/python -m fairalloc.theorems.certificates.renew search 60

experiments: .venv/bench.stamp
	@mkdir -p build
	cd docs && ../$(BIN)/fairalloc simulate --jobs 2 --time-limit 8h --format markdown --figures figures --records ../results/simulation.sqlite \
	    --keep ../simulation/experiments/verdicts.json > ../build/EXPERIMENTS.md
	mv build/EXPERIMENTS.md docs/EXPERIMENTS.md

# IPython and Jupyter would write into the home directory otherwise.
notebooks: .venv/test.stamp
	@mkdir -p build/notebooks
	$(BIN)/python -m jupytext -q --to ipynb --update notebooks/*.py
	IPYTHONDIR=$(CURDIR)/build/ipython JUPYTER_RUNTIME_DIR=$(CURDIR)/build/jupyter \
	    $(BIN)/python -m jupyter execute --timeout=60 --output=../build/notebooks/{notebook_name} notebooks/*.ipynb

# What tests/interface/test_notebooks.py has executed is not executed again.
NOTEBOOKS ?= $(patsubst %,build/%,$(wildcard notebooks/*.ipynb))

build/notebooks/%.ipynb: notebooks/%.ipynb | .venv/docs.stamp
	@mkdir -p build/notebooks
	IPYTHONDIR=$(CURDIR)/build/ipython JUPYTER_RUNTIME_DIR=$(CURDIR)/build/jupyter \
	    $(BIN)/python -m jupyter execute --timeout=60 --output=../build/notebooks/{notebook_name} $<

build/reports.stamp: docs/tools/benchmark_reports.py $(wildcard docs/records/* benchmarks/*.py) | .venv/docs.stamp
	$(BIN)/python docs/tools/benchmark_reports.py build/extra/reports
	@touch $@

docs: .venv/docs.stamp $(NOTEBOOKS) build/reports.stamp
	$(BIN)/python docs/tools/assemble.py build/docs-source
	@rm -rf build/docs # no page of what is gone
	$(BIN)/python -P -m sphinx -q -E -a -W --keep-going -b html -d build/doctrees -c docs build/docs-source build/docs
	@echo "the site: build/docs/index.html"

dist: .venv/test.stamp
	rm -rf dist build/empty
	$(BIN)/python -m build -q
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/empty
	build/empty/bin/pip install -q --only-binary :all: dist/*.whl
	cd build && empty/bin/fairalloc solve wang-fig2 -m drfh -m nb -m ps-dsf

install: .venv/test.stamp .venv/docs.stamp

clean:
	rm -rf .venv .venv-lowest build dist *.egg-info

.venv/pip.stamp:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "fairalloc needs Python 3.11 or newer: make PYTHON=python3.12"'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q "setuptools>=77" wheel
	@# the rooms as links, where the tree comes from an archive without them
	@for room in */__init__.py; do room=$${room%/__init__.py}; \
	    [ $$room = fairalloc ] || [ -e fairalloc/$$room ] || ln -s ../$$room fairalloc/$$room; done
	@touch $@

.venv/bench.stamp: pyproject.toml .venv/pip.stamp
	@echo "installing fairalloc and its solvers from wheels into .venv (about a minute, once)"
	$(WHEELS) ".[plots,traces]"
	@touch $@

.venv/test.stamp: pyproject.toml .venv/bench.stamp
	$(WHEELS) ".[dev]"
	@touch $@

.venv/docs.stamp: pyproject.toml .venv/bench.stamp
	$(WHEELS) ".[docs]"
	@touch $@

# The lowest versions that pyproject.toml declares of what is imported, and whatever goes with them; uv finds them, pip installs.
.venv-lowest/stamp: pyproject.toml .venv/test.stamp
	rm -rf .venv-lowest && $(PYTHON) -m venv .venv-lowest
	$(LOWEST)/pip install -q "setuptools>=77" wheel
	$(BIN)/uv pip compile -q --resolution lowest-direct --extra test --python $(LOWEST)/python --only-binary :all: \
	    pyproject.toml -o .venv-lowest/versions.txt
	$(LOWEST)/pip install -q --only-binary :all: --no-deps -r .venv-lowest/versions.txt
	$(LOWEST)/pip install -q --no-deps $(TREE) .
	$(LOWEST)/pip check
	@touch $@
