# Everything a newcomer needs: `make demo` and `make test`. Each target sets up its own environment.

PYTHON ?= python3
# uv of the machine where there is one, else our own under .tools (installed with pip, no venv or root needed).
UV := $(shell command -v uv 2>/dev/null || echo .tools/bin/uv)
RUN := $(UV) run --locked --no-progress
export UV_PYTHON_PREFERENCE ?= only-system
export PYTHONUTF8 := 1
# Compiled once here, not at the first run of every machine: an import of polars and numpy then takes a third of the time.
export UV_COMPILE_BYTECODE := 1

.PHONY: browser demo study test test-slow check format setup bench picture clean

demo: setup
	$(RUN) evenhand demo

# The whole of "The Audit Decides the Verdict" on two simulated respondents: 15,868 requests.
study: setup
	$(RUN) evenhand build verdict -o evenhand-study
	$(RUN) evenhand run evenhand-study --model sim/null --model sim/biased
	$(RUN) evenhand outcomes evenhand-study -o evenhand-study/outcomes.csv
	$(RUN) evenhand status evenhand-study
	$(RUN) evenhand check evenhand-study
	$(RUN) evenhand analyse evenhand-study

test: setup
	$(RUN) pytest -q -n auto -m "not slow"

test-slow: setup
	$(RUN) --extra local --group weights pytest -q -n auto -m slow

check: setup
	$(RUN) ruff format --check src tests benchmarks docs
	$(RUN) ruff check src tests benchmarks docs
	$(RUN) pyright
	$(RUN) lint-imports

# Debian's chromium, for the test that opens the page; nothing where there is one.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }

format: setup
	$(RUN) ruff format src tests benchmarks docs
	$(RUN) ruff check --fix src tests benchmarks docs

bench: setup
	$(RUN) python -m benchmarks

# The figure in the README is one of the demo's page.
picture: demo
	cp evenhand-demo/report/figures/leaderboard.svg docs/leaderboard.svg

setup: .venv/.synced

.venv/.synced: pyproject.toml uv.lock | $(UV)
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Evenhand needs Python 3.11 or newer; $(PYTHON) is ' + sys.version.split()[0] + '. Name another: make PYTHON=python3.12 ...')"
	$(UV) sync --locked --python $(PYTHON)
	@touch $@

.tools/bin/uv:
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --target .tools uv

clean:
	rm -rf .venv .tools evenhand-demo evenhand-study
