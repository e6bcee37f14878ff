# Rivulet. `make demo` shows a working chat, `make test` runs every test; both install what they need.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test bench simulate lint format docs soak fuzz deps build release clean

SEED ?=
SEEDS ?= 1
HOURS ?= 1
SOAK_MINUTES ?= 10

help: ## Tell what there is to make.
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

demo: deps ## Open a chat window with a server of its own and people who answer; without a display, in a browser.
	@echo "Building rivulet-chat and rivulet (the first time takes a few minutes) …"
	@swift build --product rivulet-chat 2>&1 | Scripts/quiet-build.sh
	@swift build --product rivulet 2>&1 | Scripts/quiet-build.sh
	@Scripts/demo.sh

test: deps ## Run every test.
	@Scripts/test.sh

bench: deps ## Print the figures of every benchmark, with the bars they should meet.
	@echo "Building rivulet-bench for release …"
	@swift build -c release --product rivuletd 2>&1 | Scripts/quiet-build.sh
	@swift build -c release --product rivulet-ui-probe 2>&1 | Scripts/quiet-build.sh
	@swift build -c release --product rivulet-bench 2>&1 | Scripts/quiet-build.sh
	@"$$(swift build -c release --show-bin-path)/rivulet-bench" all

simulate: deps ## Run clients and a server in a simulated world of faults; SEED=N chooses the world, SEEDS=N how many, HOURS=N how long.
	@swift build -c release --product rivulet-simulate 2>&1 | Scripts/quiet-build.sh
	@"$$(swift build -c release --show-bin-path)/rivulet-simulate" --seed "$(or $(SEED),1)" --seeds "$(SEEDS)" \
		--hours "$(HOURS)" --jobs "$$(nproc)"

lint: ## Check format and documentation comments, with warnings as errors.
	@swift format lint --strict -r -p Sources Tests Examples Benchmarks Fuzz Package.swift
	@echo "lint: clean"

format: ## Format every source file in place.
	@swift format -i -r -p Sources Tests Examples Benchmarks Fuzz Package.swift

docs: deps ## Build the reference documentation of every public module into .build/docs.
	@Scripts/docs.sh

soak: deps ## Run the long tests: simulations, kills, fuzzing and leaks, SOAK_MINUTES minutes of fuzzing.
	@RIVULET_SOAK=1 RIVULET_TEST_LIMIT=120m Scripts/test.sh
	@$(MAKE) --no-print-directory simulate SEED="$(or $(SEED),1)" SEEDS=1000 HOURS=4
	@# It once lost what a timed-out super group had brought (docs/simulation.md).
	@"$$(swift build -c release --show-bin-path)/rivulet-simulate" --seed 2281 --hours 48 --faults-per-hour 12 \
		--messages-per-hour 66 --store no
	@Scripts/fuzz.sh $$(( $(SOAK_MINUTES) * 60 ))
	@Scripts/deps.sh --soak
	@Scripts/leaks.sh

fuzz: deps ## Fuzz the decoders for SOAK_MINUTES minutes.
	@Scripts/fuzz.sh $$(( $(SOAK_MINUTES) * 60 ))

deps: ## Install the Debian packages that are missing.
	@Scripts/deps.sh

build: deps ## Build everything for debugging.
	@swift build

release: deps ## Build the programs for release.
	@swift build -c release --product rivulet
	@swift build -c release --product rivuletd
	@swift build -c release --product rivulet-chat

clean: ## Remove everything that was built.
	@rm -rf .build Fuzz/.build Tests/Consumer/.build
