# Two commands do everything: `make demo` and `make test`. Each sets itself up. `make quick` is for every edit.
PYTHON ?= python3
PY := .venv/bin/python
BUILT := pyproject.toml setup.py $(wildcard src/discreet/kernels/*.[ch])
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
# Modules and tests are compiled once, whatever the shell says, and leave nothing in the tree.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache

.PHONY: demo serve-demo quick test lint types contracts docs unit figures history test-matrix dist clean

demo: .venv/run
	$(PY) -m discreet demo

serve-demo: .venv/server # a server with an invented cohort, to click through
	$(PY) -m discreet serve demo discreet-server-demo

quick: lint contracts # about a minute on two quiet cores: no types, no pages, no test marked slow
	$(PY) -m pytest -n 2 --quick

test: lint types contracts docs unit

lint: .venv/dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: .venv/dev
	$(PY) -m basedpyright --level error

contracts: .venv/dev
	$(PY) -c "from importlinter.cli import lint_imports_command as main; main()" --config pyproject.toml

docs: .venv/dev
	$(PY) -m sphinx --quiet --fail-on-warning --jobs auto docs docs/_build

figures: .venv/dev # minutes: the tables in docs/printed
	$(PY) docs/printed/print.py

unit: .venv/dev
	$(PY) -m pytest -n 2

history: # what the tables in docs/printed said in earlier commits, as JSON
	@$(PYTHON) docs/printed/history.py

test-matrix: .venv/dev # an hour: every supported Python, with the oldest and the newest dependencies
	$(PIP) uv
	$(PY) tests/matrix.py -- -n 2

dist: .venv/run # sdist and wheel, checked, then installed and tried in an environment of their own
	$(PIP) "build>=1.2" "twine>=6"
	rm -rf dist build
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 1767225600) $(PY) -m build --outdir dist .
	$(PY) -m twine check --strict dist/*
	rm -rf build/try && $(PYTHON) -m venv build/try
	build/try/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && try/bin/python ../tests/smoke.py

.venv/run: $(BUILT)
	$(PYTHON) -m venv .venv
	$(PIP) -e .
	touch .venv/run

.venv/server: $(BUILT)
	$(PYTHON) -m venv .venv
	$(PIP) -e ".[server]"
	touch .venv/server .venv/run

.venv/dev: $(BUILT)
	$(PYTHON) -m venv .venv
	$(PIP) -e ".[dev]"
	touch .venv/dev .venv/run .venv/server

clean:
	rm -rf .venv
