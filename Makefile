# Two commands do all the set-up: `make demo` for users, `make test` for developers.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: install demo test test-long coverage attack mutants check audit lock bench soak dist pictures docs clean
.DEFAULT_GOAL := help

help: ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'vidence needs Python 3.11 or newer, this is ' + sys.version.split()[0] + '; say make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade --require-hashes --requirement constraints/pip.txt

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

# Development and CI install what the locks name, and nothing whose hash is another. PyPI has no torch for the CPU:
# where no index offers it, PyPI's is taken, which brings CUDA.
LOCKED := $(PIP) --require-hashes
LOCKS := $(wildcard constraints/*.txt)

$(VENV)/.test-installed: pyproject.toml $(LOCKS) | $(BIN)/python
	$(LOCKED) --requirement constraints/lock.txt --requirement constraints/torch-cpu.txt || \
		$(LOCKED) --requirement constraints/lock.txt --requirement constraints/torch-pypi.txt
	$(LOCKED) --no-deps --requirement constraints/apart.txt
	$(LOCKED) --no-deps --upgrade --target $(VENV)/beside --requirement constraints/beside.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.installed $@

install: $(VENV)/.installed ## install into .venv
	@echo "installed; try: $(BIN)/vidence demo"

demo: $(VENV)/.installed ## ask simulated models about planted videos, offline
	$(BIN)/vidence demo --out demo-out

# Lines are counted over rooms in which each must be tried, by the tests of these rooms alone, in the process of the
# tests: counting makes everything half as slow again.
ROOMS := statistics ask/scoring ask/selection
COUNTED := $(ROOMS:%=tests/unit/%) $(ROOMS:%=src/vidence/%) \
	tests/conformance/test_parsers.py tests/conformance/test_selectors.py tests/conformance/test_scored_selectors.py
# RF-DETR needs torchvision, which no other test may see: with a torch for the CPU it loads only by a plugin.
WITH_RFDETR := tests/conformance/test_detectors.py tests/unit/seeing/detectors/test_rfdetr.py
# Clusters, browsers, attacks, floods, the crawl of every page by every role, the boards over real films with all that
# is made again after them, and pages that are followed word for word: `make test-long`.
LONG := tests/long tests/browser tests/hostile tests/unit/studio/test_access.py tests/architecture/test_wings.py \
	tests/end_to_end/test_studio_load.py tests/end_to_end/test_studio_postgres.py tests/end_to_end/test_street.py \
	tests/end_to_end/test_make_killed.py \
	tests/parity/test_boards_on_real_video.py tests/parity/test_counts_on_pets.py \
	tests/architecture/test_parity_skips.py tests/docs/test_docs_site.py tests/docs/test_docs_notebooks.py \
	tests/scripts/test_follow.py tests/docs/test_docs_commands_run.py
# Tests that draw, or go over real files, and do all of it where VIDENCE_TESTS is `thorough`.
DRAWN := tests/property $(shell grep -rl 'import IS_THOROUGH' tests/parity tests/end_to_end tests/conformance)
PYTEST = $(BIN)/python -m pytest -q --numprocesses=3 --dist=loadfile --no-loadscope-reorder

# Three workers share two processors, since many tests wait; none of them needs threads. Tests start hundreds of
# processes, which need not compile the same files again.
test: export OMP_NUM_THREADS := 1
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.test-installed ## install what the tests need, and run them
	$(PYTEST) tests src $(COUNTED:%=--ignore=%) $(LONG:%=--ignore=%)
	PYTHONPATH=$(VENV)/beside:tests $(BIN)/python -m pytest -q -p servers.torchvision_on_cpu -k rfdetr $(WITH_RFDETR)
	$(PYTEST) --cov=vidence --cov-report= $(COUNTED)
	$(BIN)/python scripts/coverage_floor.py $(ROOMS)

test-long: export OMP_NUM_THREADS := 1
test-long: export PYTHONDONTWRITEBYTECODE :=
test-long: export VIDENCE_TESTS := thorough
test-long: $(VENV)/.test-installed ## run the tests that take longest: clusters, browsers, attacks, floods, all draws
	$(PYTEST) $(wildcard $(LONG)) $(DRAWN)

coverage: export OMP_NUM_THREADS := 1
coverage: export VIDENCE_TESTS := thorough
coverage: $(VENV)/.test-installed ## count the lines of all modules that their tests execute
	$(PYTEST) --cov=vidence --cov-report= tests/conformance tests/property tests/unit src
	$(BIN)/python scripts/coverage_floor.py $(ROOMS) everything

attack: export OMP_NUM_THREADS := 1
attack: export VIDENCE_ATTACK := long
attack: export VIDENCE_ATTACK_TABLE := $(CURDIR)/build/attack.jsonl
attack: $(VENV)/.test-installed ## try to break it, long, and write the table of docs/design/attack.md
	@mkdir -p build && rm -f $(VIDENCE_ATTACK_TABLE) build/attack.jsonl
	$(BIN)/python -m pytest -q tests/hostile; tried=$$?; \
		$(BIN)/python scripts/attack_table.py build/attack.jsonl docs/design/attack.md && exit $$tried

mutants: export OMP_NUM_THREADS := 1
mutants: $(VENV)/.test-installed ## change the code in 200 small ways, and list what no unit test notices (hours)
	$(BIN)/python scripts/mutants.py --sample 200

check: $(VENV)/.test-installed ## format, lint, types, imports, sizes, words, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/sizes.py
	$(BIN)/python scripts/words.py
	$(BIN)/python scripts/fragments.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site

dist: $(VENV)/.test-installed ## build sdist and wheel, and try the wheel on every Python from 3.11 to 3.14 that is there
	$(BIN)/python scripts/dist.py

pictures: $(VENV)/.test-installed ## draw the pictures of the paths, the gallery and the studio (needs Chromium)
	$(BIN)/python scripts/pictures.py
	VIDENCE_PICTURES=$(CURDIR)/docs/studio/pictures $(BIN)/python -m pytest -q tests/browser/test_screens.py --basetemp $$(dirname $$(mktemp -u))/vidence-pictures

docs: $(VENV)/.test-installed ## build the documentation into build/site; build/site/index.html opens without a server, search included
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir build/site

lock: $(BIN)/python ## renew the lock files of constraints/ (UPGRADE=1 takes the newest versions)
	$(PIP) --group lock
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python scripts/lock.py $(if $(UPGRADE),--upgrade)

audit: $(BIN)/python ## look the locked packages up in the database of known vulnerabilities
	$(BIN)/python scripts/vulnerabilities.py $(PIP) --group audit

# The other decoders are compared with where they install; torchcodec also needs FFmpeg's libraries.
$(VENV)/.bench-installed: pyproject.toml $(VENV)/.test-installed
	$(PIP) --constraint constraints/test.txt --group bench || $(PIP) psutil
	@touch $@

bench: $(VENV)/.bench-installed ## measure, and write bench/RESULTS.md
	$(BIN)/python bench/run.py

soak: export OMP_NUM_THREADS := 1
soak: $(VENV)/.test-installed ## put a team's studio under load: people, kill -9, paused viewers, a full disk, a flood, 30,000 items (15 minutes)
	$(BIN)/python bench/studio_load.py
	$(BIN)/python bench/studio_pages.py

clean: ## remove what was built
	rm -rf $(VENV) build demo-out .mypy_cache .ruff_cache .pytest_cache
