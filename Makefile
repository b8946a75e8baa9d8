# One word for each chore. `make` alone lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# The Debian packages that the app needs, and that the tests of some modules need.
RUN_PACKAGES := libsqlite3-dev libturbojpeg0-dev libpng-dev
PACKAGES_Storage := gnome-keyring dbus libsecret-1-0
PACKAGES_PostgreSQLStorage := libpq-dev postgresql pgbouncer
PACKAGES_Imaging := libturbojpeg0-dev libpng-dev
PACKAGES_App := python3-venv
TEST_PACKAGES := $(sort $(RUN_PACKAGES) $(PACKAGES_App) $(PACKAGES_Storage) $(PACKAGES_PostgreSQLStorage))

# The traits that modules need on Linux.
ifeq ($(shell uname -s),Linux)
TRAITS_PostgreSQLStorage := PostgreSQL
TRAITS_Imaging := TurboJPEG
TRAITS_NetworkCombine := OpenCombine
TRAITS_OAuth2Flows := Crypto
TRAITS_Storage := Crypto
endif
TRAITS_NetworkAsyncHTTPClient := AsyncHTTPClient
TRAITS_NetworkCore := HTTPTypes

SOURCES := Package.swift Modules Tests Examples Benchmarks App/Package.swift App/Sources App/Tests
# Builds of these commands have no debug information, and no index of the system's modules: neither is used by a command. (The
# index of the tests is: SwiftPM finds the tests of XCTest in it.) A backtrace has the names of functions and no lines;
# `make test BUILD_FLAGS=` has both. `make run` and `make test` have the same flags, so that one build serves both.
BUILD_FLAGS ?= -Xswiftc -gnone -Xswiftc -index-ignore-system-modules -Xcc -g0
export BUILD_FLAGS
# The root package with all traits, the app, the examples, the consumers and the benchmarks are built into one folder, by
# commands that differ in nothing: a module, or a package, that several of them use is compiled once. SwiftPM must not keep
# its plan of a build: it is that of the package that was built last.
ROOT := --scratch-path $(CURDIR)/.build-workspace --disable-build-manifest-caching
APP := $(ROOT) --package-path App
EXAMPLES := $(ROOT) --package-path Examples
CONSUMERS := $(ROOT) --package-path Tests/Consumers
PROGRAMS := .build-workspace/debug
ifeq ($(shell uname -s),Linux)
articles endurance test-provider test-traits test-app test-examples test-consumers test-doubles bench-debug: \
	export LATCHKEY_ALL_TRAITS := 1
endif
ARGS ?= demo
MINUTES ?= 10
KILL_EVERY ?= 20
SEED ?= 1
STEPS ?= 50000000

.PHONY: help
help: ## List the chores
	@grep -hE '^[a-zA-Z%<>-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

ARTICLES = $(PROGRAMS)/articles

.PHONY: articles
articles: setup-run
	@echo "building the app; the first time this takes some minutes" >&2
	@.ci/build $(APP) --product articles

.PHONY: run
run: articles ## Run the demonstration, or another command: make run ARGS="list --json"
	@$(ARTICLES) $(ARGS)

REPORT ?= .build/report.html

.PHONY: report
report: articles ## Write a page about the demonstration's requests: make report REPORT=demo.html
	@mkdir -p "$(dir $(REPORT))"
	@$(ARTICLES) demo --report "$(REPORT)" >/dev/null
	@echo "$(REPORT)"

.PHONY: check-report
check-report: articles ## Check pages of --report in headless Chromium: structure, contrast, width, keyboard, hostile text
	@.ci/setup chromium python3
	@App/Tests/Report/run $(ARTICLES)

.PHONY: test
test: test-root test-traits test-app test-examples test-consumers test-names ## Run all tests: modules, samples, examples, app

# What ships without any trait, and the tests of the modules whose code then differs.
.PHONY: test-root
test-root: setup-test ## Build the modules without any trait, and test those that have one
	.ci/build --explicit-target-dependency-import-check error
	LATCHKEY_MODULE=NetworkAsyncHTTPClient,OAuth2Flows,PostgreSQLStorage,Imaging,NetworkCombine .ci/test

.PHONY: test-traits test-app test-examples test-consumers
test-traits: ## Run the modules' tests with all traits
test-app: ## Run the app's tests, end to end against the real server
test-examples: ## Build and test the examples, or one: make test-examples ONLY=PlainURLSession
test-consumers: ## Build the README's samples as apps of several kinds compile them
PACKAGE_traits := $(ROOT)
PACKAGE_app := $(APP)
PACKAGE_examples := $(EXAMPLES)
PACKAGE_consumers := $(CONSUMERS)
test-traits test-app test-examples test-consumers: test-%: setup-test
	.ci/test $(PACKAGE_$*) --explicit-target-dependency-import-check error --skip '^RepositoryTests\.' \
		$(if $(ONLY),--filter '^$(ONLY)Tests\.')
test-consumers: test-doubles

.PHONY: test-doubles
test-doubles: ## Run the test doubles in a program that links no test framework
	.ci/build $(CONSUMERS) --product WithoutTestFramework
	$(PROGRAMS)/WithoutTestFramework

.PHONY: test-names
test-names: ## Build an application with modules of its own that have names of ours
	swift build $(BUILD_FLAGS) --package-path Tests/Consumers/CollidingNames --scratch-path .build-names

.PHONY: check-web
check-web: articles ## Drive the screens in headless Chromium, and save pictures: make check-web PICTURES=folder
	@.ci/setup chromium
	App/Tests/Web/check $(ARTICLES) $(or $(PICTURES),.build-web)

.PHONY: new-module
new-module: ## Lay out a data module: make new-module NAME=Orders ITEM=Order INTO=../MyApp; without INTO here, and test it
	@.ci/new-module "$(NAME)" "$(ITEM)" --into "$(INTO)"
	@$(if $(INTO),,$(MAKE) --no-print-directory test-$(NAME))

.PHONY: test-simulator
test-simulator: ## On a Mac, run the modules' tests in a simulator: make test-simulator DEVICE="Apple TV"
	@.ci/test-simulator "$(DEVICE)"

# Builds the module, its tests and what they need. Installs packages and switches on a trait only where it must.
test-%: ## Run one module's tests, with its trait: make test-TokenRefresh ONLY=PacingTests
	@[ -d Tests/$*Tests ] || { echo "there is no Tests/$*Tests; the modules are:" Modules/*/ >&2; exit 1; }
	@.ci/setup $(PACKAGES_$*)
	LATCHKEY_MODULE=$* swift test $(BUILD_FLAGS) --scratch-path .build-module $(if $(TRAITS_$*),--traits $(TRAITS_$*)) \
		$(if $(ONLY),--filter '$(ONLY)') $(if $(SKIP),--skip '$(SKIP)')

.PHONY: tsan
tsan: setup-test ## Run the modules' tests under the thread sanitizer
	# The simulation and the exploration have one thread each, and would keep the other tests waiting.
	.ci/test --sanitize=thread --scratch-path .build-tsan --skip 'SimulationTests|ExplorationTests|RepositoryTests'

# Without the checks of exclusive access, which take an eighth of a simulation: `make test` has them.
SIMULATION := LATCHKEY_MODULE=TokenRefresh swift test -c release -Xswiftc -enable-testing \
	-Xswiftc -enforce-exclusivity=unchecked --scratch-path .build-release

.PHONY: simulate
simulate: ## Simulate races for long: make simulate SEED=7 STEPS=50000000
	SEED=$(SEED) STEPS=$(STEPS) SWIFT_DETERMINISTIC_HASHING=1 $(SIMULATION) \
		--filter SimulationTests

.PHONY: explore
explore: ## Walk all interleavings of two processes: make explore BOUNDS="refresh=3 crash=1 faults=1" STATES=5000000
	EXPLORE=large BOUNDS="$(BOUNDS)" STATES=$(STATES) $(SIMULATION) --filter ExplorationTests

.PHONY: mutants
mutants: setup-test ## Change one line at a time; a test must fail each time: make mutants ONLY=backoff LIMIT=20 SEED=7; EVERY=1 names all tests that do, of those that match TESTS
	Tests/Mutants/run $(if $(ONLY),--only "$(ONLY)") $(if $(LIMIT),--count $(LIMIT)) \
		$(if $(EVERY),--every) $(if $(TESTS),--tests "$(TESTS)") \
		$(if $(filter-out file,$(origin SEED)),--seed $(SEED))

.PHONY: check-mutants
check-mutants: ## Check that the line of each mutant is still there
	Tests/Mutants/run --check

.PHONY: fuzz
fuzz: ## Run libFuzzer on the parsers: make fuzz FUZZ_SECONDS=60 PARSERS="events link"
	Tests/Fuzz/run $(or $(FUZZ_SECONDS),60) $(PARSERS)

.PHONY: torture-storage
torture-storage: setup-test ## Kill thousands of processes while they save, and print the counts
	TORTURE_KILLS=2000 TORTURE_PROCESSES=8 TORTURE_REFRESHES=1000 swift test --filter KilledProcessTests

.PHONY: endurance
endurance: setup-run ## Run S13, S14, S15, S20 and S27 for long: make endurance MINUTES=60 KILL_EVERY=20 LIFETIMES=3600 ONLY=S27
	@.ci/build $(APP) --product Endurance
	@$(PROGRAMS)/Endurance --minutes $(MINUTES) --kill-every $(KILL_EVERY) \
		$(if $(LIFETIMES),--lifetimes $(LIFETIMES)) $(if $(ONLY),--only $(ONLY)) \
		$(if $(TRANSPORTS),--transports $(TRANSPORTS)) --provider App/Tests/Endurance/provider/start \
		--strict-provider App/Tests/Endurance/provider/start-strict

.PHONY: test-provider
test-provider: setup-run ## Run the OAuth 2 flows and S27 against real providers, and Schemathesis against our server: all from PyPI
	@provider=App/Tests/Endurance/provider && python="$$(App/Tests/environment "$$provider")" && \
		for check in check_proofs check_strict; do "$$python" -B "$$provider/$$check.py" || exit 1; done
	PROVIDER="$(CURDIR)/App/Tests/Endurance/provider/start" \
		STRICT_PROFILE="$(CURDIR)/App/Tests/Endurance/provider/start-strict" .ci/test $(APP) \
		--filter '^(ProviderTests|DevBackendTests\.ConformanceTests)(\.|/)'

# On Linux without debug information: callgrind reads none of this compiler's.
BENCH := --package-path Benchmarks --scratch-path .build-bench -c release
ifeq ($(shell uname -s),Linux)
BENCH += -Xlinker --strip-debug
endif

.PHONY: bench
bench: setup-bench ## Measure what the layer costs beside the libraries below: make bench ONLY=pipeline,storm PAGE=Benchmarks/README.md JSON=file
	@BUILD_FLAGS= .ci/build $(BENCH)
	@.build-bench/release/bench run $(if $(ONLY),--only "$(ONLY)") $(if $(JSON),--json "$(JSON)") \
		$(if $(CHARTS),--charts "$(CHARTS)") $(if $(PAGE),--page "$(PAGE)")

.PHONY: bench-check
bench-check: setup-bench ## Measure, and compare counts and ratios with the committed thresholds
	@BUILD_FLAGS= .ci/build $(BENCH)
	@.build-bench/release/bench check $(if $(ONLY),--only "$(ONLY)") Benchmarks/Thresholds

.PHONY: bench-debug
bench-debug: setup-bench ## Measure a debug build: make bench-debug ONLY=imaging
	@.ci/build $(ROOT) --package-path Benchmarks --product bench
	@$(PROGRAMS)/bench run $(if $(ONLY),--only "$(ONLY)")

.PHONY: bench-build
bench-build: ## Measure how long builds take, and what the modules add to a program
	@.ci/bench-build

.PHONY: bench-cpu
bench-cpu: ## Show where a command spends the processor, by module and kind: make bench-cpu OF=run
	@.ci/bench-cpu make $(or $(OF),test)

.PHONY: typecheck-apple
typecheck-apple: ## Parse the code for Apple platforms, and typecheck it against stubs
	Tests/AppleStubs/typecheck

.PHONY: docs
docs: ## Build the documentation of all modules, with all traits on Linux, and of the guide as one static site
	.ci/docs

.PHONY: lint
lint: ## Check the format of every source
	swift format lint --strict --parallel --recursive $(SOURCES)

.PHONY: format
format: ## Format every source in place
	swift format --in-place --parallel --recursive $(SOURCES)

.PHONY: boundaries
boundaries: ## Check who imports whom, the manifests, names, README, and that nothing ships with a package
	@found="$$(swift package --scratch-path .build-module show-dependencies 2>&1)" || { echo "$$found" >&2; exit 1; }; \
	grep -q 'No external dependencies found' <<<"$$found" \
		|| { printf 'what ships depends on a package:\n%s\n' "$$found" >&2; exit 1; }
	LATCHKEY_MODULE=Repository swift test $(BUILD_FLAGS) --scratch-path .build-module

BASE ?= HEAD

.PHONY: check
check: ## Check what has changed: format, boundaries, the tests of the changed modules: make check BASE=origin/main
	@.ci/check "$(BASE)"

.PHONY: ci
ci: lint boundaries check-mutants typecheck-apple test ## Run everything that has to pass before a change lands

# Without BASE it is the last release. Of the modules in LATCHKEY_MODULE only the traits are on: those of the others would
# compile their packages all the same.
comma := ,
.PHONY: api-check
api-check: setup-test ## Compare the public declarations with the last release's: make api-check BASE=origin/main
	@TRAITS="$(foreach module,$(subst $(comma), ,$(LATCHKEY_MODULE)),$(TRAITS_$(module)))" \
		.ci/api-check $(if $(filter-out file,$(origin BASE)),"$(BASE)")

.PHONY: release-check
release-check: setup-test ## Say what is missing for a release; makes no tag: make release-check VERSION=0.1.0
	@.ci/release-check "$(VERSION)"

.PHONY: lint-workflows
lint-workflows: ## Check the workflows and issue forms with check-jsonschema and zizmor, both from PyPI
	@.ci/lint-workflows

.PHONY: clean
clean: ## Remove what was built
	rm -rf .build .build-* App/.build Tests/Consumers/.build

.PHONY: setup-run setup-test setup-bench
setup-bench:
	@.ci/setup valgrind $(PACKAGES_Imaging)
setup-run:
	@.ci/setup $(RUN_PACKAGES)
setup-test:
	@.ci/setup $(TEST_PACKAGES)
