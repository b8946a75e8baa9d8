# One word a chore. `make` alone lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# What the app, and what the tests, need of a Debian system.
RUN_PACKAGES := libsqlite3-dev libturbojpeg0-dev libpng-dev
TEST_PACKAGES := $(RUN_PACKAGES) libpq-dev postgresql pgbouncer gnome-keyring dbus libsecret-1-0

SOURCES := Package.swift Modules Tests App/Package.swift App/Sources App/Tests
ARGS ?= demo
MINUTES ?= 10
KILL_EVERY ?= 20
SEED ?= 1
STEPS ?= 50000000

.PHONY: help
help: ## List the chores
	@grep -hE '^[a-zA-Z%<>-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

.PHONY: run
run: setup-run ## Run the demonstration, or anything else: make run ARGS="list --json"
	@echo "building the app; the first time this takes some minutes" >&2
	@swift build --package-path App --product articles >&2
	@"$$(swift build --package-path App --show-bin-path)/articles" $(ARGS)

.PHONY: test
test: test-root test-traits test-app ## Run all tests: the modules without and with all traits, and the app

.PHONY: test-root
test-root: setup-test ## Run the modules' tests without any trait
	swift build --build-tests --explicit-target-dependency-import-check error
	swift test --skip-build

.PHONY: test-traits
test-traits: setup-test ## Run the modules' tests with all traits
	swift test --enable-all-traits --scratch-path .build-traits

.PHONY: test-app
test-app: setup-test ## Run the app's tests, end to end against the real server
	swift test --package-path App

test-%: setup-test ## Run one module's tests, with all traits: make test-TokenRefresh
	swift test --enable-all-traits --scratch-path .build-traits --filter '^$*Tests\.'

.PHONY: tsan
tsan: setup-test ## Run the modules' tests under the thread sanitizer
	# Not the simulation and the exploration: they have one thread, and would keep the others waiting for their turn.
	swift test --sanitize=thread --scratch-path .build-tsan --skip 'SimulationTests|ExplorationTests'

.PHONY: simulate
simulate: ## Simulate races for long: make simulate SEED=7 STEPS=50000000
	SEED=$(SEED) STEPS=$(STEPS) LATCHKEY_MODULE=TokenRefresh swift test -c release -Xswiftc -enable-testing --scratch-path .build-release \
		--filter Simulation

.PHONY: explore
explore: ## Walk all interleavings of two processes: make explore BOUNDS="refresh=3 crash=1 faults=1" STATES=5000000
	EXPLORE=large BOUNDS="$(BOUNDS)" STATES=$(STATES) LATCHKEY_MODULE=TokenRefresh swift test -c release \
		-Xswiftc -enable-testing --scratch-path .build-release --filter ExplorationTests

.PHONY: mutants
mutants: ## Change one line at a time, and look whether a test notices: make mutants ONLY=backoff
	Tests/Mutants/run $(if $(ONLY),--only "$(ONLY)") $(if $(LIMIT),--minutes $(LIMIT))

.PHONY: torture-storage
torture-storage: setup-test ## Kill processes while they save, by the thousand, and print the counts
	TORTURE_KILLS=2000 TORTURE_PROCESSES=8 TORTURE_REFRESHES=1000 swift test --filter KilledProcessTests

.PHONY: endurance
endurance: setup-run ## Run processes for long against a real OAuth 2 provider: make endurance MINUTES=10 KILL_EVERY=20
	@swift build --package-path App --product Endurance >&2
	@"$$(swift build --package-path App --show-bin-path)/Endurance" --minutes $(MINUTES) --kill-every $(KILL_EVERY) \
		--provider App/Tests/Endurance/provider/start

.PHONY: typecheck-apple
typecheck-apple: ## Parse, and typecheck against stubs, what only Apple's systems run
	Tests/AppleStubs/typecheck

.PHONY: lint
lint: ## Check the format of every source
	swift format lint --strict --parallel --recursive $(SOURCES)

.PHONY: format
format: ## Format every source in place
	swift format --in-place --parallel --recursive $(SOURCES)

.PHONY: boundaries
boundaries: ## Check who imports whom, and that nothing from outside ships
	@swift package show-dependencies 2>/dev/null | grep -q 'No external dependencies found' \
		|| { echo "what ships has a dependency: see 'swift package show-dependencies'" >&2; exit 1; }
	swift test --filter '^RepositoryTests\.(ModuleBoundary|HouseRules)'

.PHONY: ci
ci: lint boundaries test ## Everything that has to pass before a change lands

.PHONY: clean
clean: ## Remove what was built
	rm -rf .build .build-* App/.build App/Tests/Endurance/provider/.build

.PHONY: setup-run setup-test
setup-run:
	@.ci/setup $(RUN_PACKAGES)
setup-test:
	@.ci/setup $(TEST_PACKAGES)
