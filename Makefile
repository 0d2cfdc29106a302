# Every verb makes its own .venv when it is missing or older than the lock.

PYTHON ?= python3
DEFECT ?= expired
SCALE  ?= 1
ROUNDS ?= 3
PARTS  ?=
SECONDS ?= 300
SEED   ?=
PLANT  ?=
DRAWN   = $(shell $(PYTHON) -c 'import random; print(random.getrandbits(32))')
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
TYPED  := $(wildcard remit supervisor workers projector simulator benchmarks chaos fuzz) tests

.PHONY: demo test check up down lock bench chaos fuzz

demo: $(READY)  ## run the example workflow in the foreground: make demo DEFECT=none|expired|reused|stubborn
	$(BIN)/remit demo --defect $(DEFECT)

test: $(READY)  ## all tests, those on a real broker included; the seed is printed, and can be given: make test SEED=7
	$(BIN)/python -m pytest -m "kafka or not kafka" -n 3 --dist loadgroup --hypothesis-seed=$(or $(SEED),$(DRAWN))

check: $(READY)  ## style, types, import contracts, schema compatibility
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports --no-cache
	$(BIN)/remit schemas check

bench: $(READY)  ## each figure beside its floor: make bench SCALE=0.1 ROUNDS=2 PARTS="logic pipeline"
	$(BIN)/python -m benchmarks $(PARTS) --scale $(SCALE) --rounds $(ROUNDS)

chaos: $(READY)  ## kill, stop and restart everything under load, then check: make chaos SECONDS=300 SEED=7 PLANT=
	$(BIN)/python -m chaos --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(PLANT),--plant $(PLANT))

fuzz: $(READY)  ## bad input for every decoder and reader: make fuzz SECONDS=120 SEED=7
	$(BIN)/python -m fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

up: $(READY)  ## start the embedded broker
	$(BIN)/remit up

down: $(READY)  ## stop the embedded broker
	$(BIN)/remit down

lock: $(READY)  ## write requirements.lock anew from pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --all-extras --group dev pyproject.toml -o requirements.lock

$(READY): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Remit needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)
