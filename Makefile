# The commands of the README. Everything else is `snakemake` and `grokatlas` in the environment:
#   . .venv/bin/activate
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
SITE_STAMP := .venv/.installed-docs
SCALE ?= quick
# another installer, for example "uv pip install --python .venv --torch-backend=cpu"
INSTALL ?= $(BIN)/python -m pip install --quiet
# The programs of .venv name its folder: in a checkout that was moved or copied they are made anew.
MOVED := $(shell test ! -e $(STAMP) || test "$$(cat $(STAMP))/.venv" -ef .venv || echo moved)
# Snakemake needs a folder for its cache, which an account without a home does not have.
CACHE := "$${XDG_CACHE_HOME:-$$HOME/.cache}"
ifneq ($(shell mkdir -p $(CACHE) 2>/dev/null && test -w $(CACHE) || echo none),)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
endif
export HOME ?= $(CURDIR)/.snakemake/home
# an account whose pip installs for the user cannot install into an environment
export PIP_USER := 0

.PHONY: help figures plates studies atlas site test test-all lint benchmark clean-environment moved

help: ## say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

# the papers that have a document, as a list for Snakemake: the plates are figures of our own
PUBLISHED = $(filter-out plates,$(notdir $(wildcard config/papers/*)))
DRAW = . $(BIN)/activate && if [ -t 2 ]; then shown=; else shown="--quiet rules host"; fi; \
	snakemake $$shown --config scale=$(SCALE)
DRAWN = echo "made in results/$(SCALE):" && ls results/$(SCALE)/figures/*/*.pdf

figures: $(STAMP) ## draw every figure of the papers at SCALE (quick)
	@$(DRAW) papers="[$$(echo $(PUBLISHED) | tr ' ' ,)]"
	@$(DRAWN)

plates: $(STAMP) ## draw these and the plates, figures that no paper has
	@$(DRAW)
	@$(DRAWN)

studies: $(STAMP) ## draw the figures of other papers, a study each (docs/studies.md)
	@. $(BIN)/activate && for study in studies/*/; do \
		(cd $$study && snakemake --profile $(CURDIR)/profiles/workstation --config scale=$(SCALE)) \
		|| exit 1; done
	@echo "made in studies/*/results/$(SCALE):" && ls studies/*/results/$(SCALE)/figures/*/*.pdf

atlas: $(STAMP) ## from recorded results: every figure, claim and page; trains nothing
	@. $(BIN)/activate && python -P -m grokatlas restore $(if $(filter command line,$(origin SCALE)),--scale $(SCALE))

site: $(SITE_STAMP) ## build the documentation in build/site; a warning is an error
	@. $(BIN)/activate && python docs/site/build.py

$(SITE_STAMP): requirements-docs.lock $(STAMP)
	$(INSTALL) --requirement requirements-docs.lock
	@touch $@

# with compiled modules: the tests start hundreds of processes
PYTEST := . $(BIN)/activate && PYTHONDONTWRITEBYTECODE= python -m pytest -q -n auto --dist worksteal

test: $(STAMP) ## run the tests, without further cases of the same properties
	@$(PYTEST) -m "not exhaustive"

test-all: $(STAMP) ## run all tests
	@$(PYTEST)

lint: $(STAMP) ## check style, types, the workflow and the container
	@. $(BIN)/activate && ruff check && ruff format --check && mypy && snakefmt --check Snakefile workflow && snakemake --lint && python -m grokatlas reference --check && hadolint containers/Containerfile

benchmark: $(STAMP) ## time the engine against plain PyTorch; writes docs/performance.md
	@. $(BIN)/activate && python -m benchmarks

# The environment, made once. Activated, it selects the workstation profile, so that plain
# `snakemake` uses all cores, in the folder of a study too.
$(STAMP): requirements.lock pyproject.toml $(MOVED)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(MOVED:moved=--clear) .venv
	$(INSTALL) --requirement requirements.lock
	$(INSTALL) --no-deps --editable .
	@grep -q SNAKEMAKE_PROFILE $(BIN)/activate || echo 'export SNAKEMAKE_PROFILE="$(CURDIR)/profiles/workstation"' >> $(BIN)/activate
	@pwd > $@

moved:

clean-environment:
	rm -rf .venv
