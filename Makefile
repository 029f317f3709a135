# Two commands: `make up` (serve) and `make test` (everything). The rest is named in docs/operate.md.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# pip compiles what it installs on one core, compileall on all of them and without the tests of others; with what our own
# servers load, which may not be allowed to write it (systemd's units).
COMPILE := $(BIN)/python -m compileall -q -j 0 -x '/(tests?|pip)/' $(VENV)/lib bentos clinical webapp >/dev/null || true
# Processes of the suite: most of its time is waiting for servers, browsers and file systems.
WORKERS ?= 2
VLLM := $(or $(BEFUND_VLLM_VENV),.venv-vllm)
INPUTS := pyproject.toml constraints.txt

# The starter catalog is built when no catalog is named and there is none, or when the one that is there is a starter
# catalog older than its sources. A catalog that an operator built is never replaced.
NAMED := $(BEFUND_CATALOG)$(shell sed -n 's/^BEFUND_CATALOG=//p' .env 2>/dev/null)
BUILT := $(wildcard var/catalog/manifest.json)
STARTER := $(if $(NAMED),,$(if $(BUILT),$(wildcard var/.starter),var/.starter))
STARTER_SOURCES := $(shell find catalog_build clinical -type f -not -name '*.pyc')
ifeq ($(BUILT),)
$(shell rm -f var/.starter)
endif

export BENTOML_DO_NOT_TRACK := True
export GX_ANALYTICS_ENABLED := false
export VLLM_NO_USAGE_STATS := 1
ifeq ($(BEFUND_TRACES_URL)$(BEFUND_TRACES_URL_FILE)$(shell sed -n 's/^BEFUND_TRACES_URL\(_FILE\)*=//p' .env 2>/dev/null),)
export OTEL_SDK_DISABLED := true
endif

.DEFAULT_GOAL := help
.PHONY: help up test test-vllm check catalog lab notebooks pictures docs bundle test-bundle release evals load clean

help:
	@sed -n 's/^#: //p' Makefile

#: make up                  install what serving needs, build the starter catalog, start every server
up: $(VENV)/.serve $(STARTER)
	@exec $(BIN)/python -m bentos up

#: make test                install everything and run the whole test suite
test: $(VENV)/.all
	@$(BIN)/python tests/system/install
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

#: make test-vllm           the tests with a real vLLM on CPU; installs it once (3.5 GB) where BEFUND_VLLM_VENV says
test-vllm: $(VENV)/.all
	@PYTHON=$(PYTHON) tests/vllm/install "$(VLLM)"
	BEFUND_VLLM_VENV="$(abspath $(VLLM))" $(BIN)/python -m pytest tests/vllm

#: make check               ruff, mypy, import rules
check: $(VENV)/.all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

#: make catalog SOURCE=dir  the full catalog from BfArM's files, into var/catalog
catalog: $(VENV)/.checks
	@test -n "$(SOURCE)" || { echo "usage: make catalog SOURCE=dir-with-the-BfArM-files"; exit 2; }
	$(BIN)/python -m catalog_build build "$(SOURCE)" --out var/catalog $(if $(PREVIOUS),--previous "$(PREVIOUS)")
	@rm -f var/.starter

#: make lab                 JupyterLab on this machine, with the artifact and everything importable
lab: $(VENV)/.all $(STARTER)
	PYTHONPATH="$(CURDIR)" PYTHONWARNINGS="ignore:IProgress not found" $(BIN)/jupyter lab --config=notebooks/jupyter_lab_config.py notebooks/00_start.ipynb

# How much the notebooks measure, by the names in their first cells: make notebooks QUERIES=600.
SIZES := QUERIES TRIES TEXTS WRITTEN AUTHORS ASKED SEARCHES REQUESTS ROUNDS LETTERS TUNED WORST DRAWS TRAINED
GIVEN = $(strip $(foreach name,$(SIZES),$(if $($(name)),$(name)=$($(name)))))

#: make notebooks CATALOG=dir SOURCE=dir   run the notebooks: executed copies, HTML and pictures in var/reports;
#:                          also HOLDOUT=dir EARLIER="dir ..." DATA=file-or-dir ONLY="01 03" QUERIES=600 TRIES=... FULL=1
#:                          AT_ONCE=1 (2: notebooks that run side by side)
notebooks: $(VENV)/.all
	@test -n "$(CATALOG)" || { echo "usage: make notebooks CATALOG=artifact [SOURCE=its-BfArM-files]"; exit 2; }
	$(BIN)/python -m evals notebooks --catalog "$(CATALOG)" $(if $(SOURCE),--source "$(SOURCE)") \
	  $(if $(HOLDOUT),--holdout "$(HOLDOUT)") $(if $(DATA),--data "$(DATA)") $(if $(EARLIER),--earlier $(EARLIER)) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(GIVEN),--size $(GIVEN)) $(if $(FULL),--full) $(if $(AT_ONCE),--at-once $(AT_ONCE))

#: make pictures            the page and the pictures of the documentation from the last `make notebooks`; ONLY="05";
#:                          SMALLER=1: also where the page shows a larger run
pictures: $(VENV)/.all
	$(BIN)/python -m evals notebooks --docs docs $(if $(ONLY),--only $(ONLY)) $(if $(SMALLER),--smaller)

#: make docs                the documentation as a site in site/, to be opened without a network
docs: $(VENV)/.all
	@test -d tests/node/node_modules/iframe-worker || npm ci --prefix tests/node --no-audit --no-fund --silent
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "open site/index.html"

#: make bundle              all that an installation without internet needs, in dist/; CATALOG=dir takes another
#:                          catalog than the starter's, WITH_VLLM=1 adds the wheels of vLLM (many GB), WITH_IMAGES=1
#:                          the images, by buildah or podman (IMAGE_OPTIONS="--build-arg PYTHON=python@sha256:...")
BUNDLE = dist/befund-$(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' clinical/__init__.py)-linux-x86_64
bundle: docs var/starter/manifest.json
	$(BIN)/python -m deploy.bundle --site site --catalog "$(or $(CATALOG),var/starter)" $(if $(WITH_VLLM),--vllm) \
		$(if $(WITH_IMAGES),--images "$(IMAGE_OPTIONS)")

#: make test-bundle         makes that bundle, installs it with the network off, codes a text with it, goes through
#:                          docs/production.md with it; prints seconds
test-bundle: bundle
	$(BIN)/python -m deploy.bundle.trial $(BUNDLE)
	BEFUND_BUNDLE=$(BUNDLE) $(BIN)/python -m pytest -q -s tests/system/test_production.py

#: make release             that bundle with its bill of materials, licences and upgrade note; SINCE=tag is upgraded from
release: bundle
	$(BIN)/python -m deploy.release $(BUNDLE) $(if $(SINCE),--since "$(SINCE)")

#: make evals               has quality dropped? on the starter catalog, against the results that are kept
evals: $(VENV)/.all var/starter/manifest.json
	$(BIN)/python -m evals gate --catalog var/starter $(if $(ACCEPT),--accept)

#: make load MINUTES=10     all servers behind nginx under mixed load, with faults; python -m evals load: parts
load: $(VENV)/.all var/starter/manifest.json
	$(BIN)/python -m evals load soak --catalog var/starter --minutes $(or $(MINUTES),10)

#: make clean               remove the environment; var/ stays
clean:
	rm -rf $(VENV) build *.egg-info

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "befund: Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.serve: $(INPUTS) | $(VENV)/bin/python
	$(PIP) install --no-compile -c constraints.txt -e '.[serve,build,webapp]'
	@$(COMPILE)
	@touch $@

$(VENV)/.checks: $(INPUTS) | $(VENV)/bin/python
	$(PIP) install --no-compile -c constraints.txt -e '.[serve,build,webapp,checks]'
	@$(COMPILE)
	@touch $@ $(VENV)/.serve

$(VENV)/.all: $(INPUTS) | $(VENV)/bin/python
	$(PIP) install --no-compile -c constraints.txt -e '.[all]'
	@$(COMPILE)
	@touch $@ $(VENV)/.serve $(VENV)/.checks

var/.starter: $(STARTER_SOURCES) | $(VENV)/.serve
	$(BIN)/python -m catalog_build build catalog_build/starter --out var/catalog
	@touch $@

var/starter/manifest.json: $(STARTER_SOURCES) | $(VENV)/.serve
	$(BIN)/python -m catalog_build build catalog_build/starter --out var/starter
