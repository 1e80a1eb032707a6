# Everything runs in a virtual environment that these targets make by themselves.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Files with few tests are often those that take long: they must not be begun last.
WORKERS := -n auto --dist loadfile --no-loadscope-reorder
# Processes that tests start read what others have compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check jobs servers proof tables gpu lint docs bench demo-model requirements clean

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt \
		--editable ".[hf,adapters,stored,served,datasets,holdout,math,plots,parquet,inspect,ray]" --group dev
	touch $@

demo: $(READY)  ## Sweep the demo model and write report.md
	$(BIN)/python -m pytest eval_suites/demo \
		--maxrandom-report report.md --maxrandom-json report.json

test: $(READY)  ## Run the tests of each law, without what takes long
	$(BIN)/python -m pytest $(WORKERS) --target=test

check: $(READY)  ## Run what `make test` leaves out: a cut of each long proof, servers, actions, pages
	$(BIN)/python -m pytest $(WORKERS) --target=check

jobs: $(READY)  ## Run jobs of the workflows as written, each in a fresh clone and environment (needs the network)
	$(BIN)/python tools/jobs.py $(JOBS)

servers: $(READY)  ## Install real servers, and build llama-cpp-python (some 8 minutes on 2 cores, with the download; goes on where it was stopped)
	$(BIN)/python tools/servers.py install
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[gguf]"

proof: $(READY) servers  ## Prove what a green run means: the long proofs whole, with their figures (some 75 minutes on 2 slow cores, by the CPU seconds of three quarters of it)
	MAXRANDOM_PROOF=whole $(BIN)/python -m pytest tests/proof tests/integration/lm_eval_tasks $(WORKERS)

tables: $(READY)  ## Run the proofs with the cells that `make proof` leaves out, and write docs/explanation/larger-tables.md (some 70 minutes on 2 cores, by the seconds of its parts; goes on where it was stopped)
	$(BIN)/python tools/proof_tables.py

gpu: $(READY)  ## Run the tests of models and a benchmark of sweeps on a GPU (some 8 minutes); says why, if there is none
	$(BIN)/python tools/gpu.py

lint: $(READY)  ## Check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows \
		.github/workflows/*.yml .github/examples/gate*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml .github/actions/*/action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci .github/examples/gitlab-ci.yml
	$(BIN)/zizmor --offline --no-progress action.yml .github .github/examples/gate*.yml

docs: $(READY)  ## Build the documentation site, build/docs/index.html
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group docs
	$(BIN)/python -m sphinx --nitpicky --fail-on-warning --keep-going --fresh-env --quiet docs build/docs

bench: $(READY)  ## Measure the statistics and a sweep beside their peers (some 30 minutes)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group bench
	$(BIN)/python -m benchmarks.baselines
	$(BIN)/python -m benchmarks.sweep
	$(BIN)/python -m benchmarks.recorded
	$(BIN)/python -m benchmarks.cells
	$(BIN)/python -m benchmarks.verdict
	$(BIN)/python -m benchmarks.placements
	$(BIN)/python -m benchmarks.tasks
	$(BIN)/python -m benchmarks.page
	$(BIN)/python -m benchmarks.decided
	$(BIN)/python -m benchmarks.executor
	$(BIN)/python -m benchmarks.choices
	$(BIN)/python -m benchmarks.throughput
	$(BIN)/python -m benchmarks.claims --quick

demo-model: $(READY)  ## Train the demo model again (some 20 minutes on 2 cores)
	$(BIN)/python tools/train_demo_model.py

COMPILE = $(BIN)/uv pip compile --constraint constraints.txt --generate-hashes --universal \
	--python-version 3.11 --upgrade --quiet --custom-compile-command "make requirements"

requirements: $(READY)  ## Write the hashes of what jobs install that may write or publish
	$(COMPILE) pyproject.toml --output-file .github/actions/comment/requirements.txt
	$(COMPILE) .ci/release.in --output-file .ci/release.txt

clean:
	rm -rf $(VENV) build dist report.md report.json maxrandom-report
