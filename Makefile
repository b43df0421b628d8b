# Plain make and sh. A fresh machine needs Go, a C compiler and make, no more;
# the tests that want a browser skip, loudly, where there is none.
#
#   REQUIRE_ALL=1 make test    what would skip for want of a tool fails instead
#   make test GO=go1.26.8      another Go

.POSIX:

GO = go
ADDR = 127.0.0.1:8080

# sqlite_fts5 compiles the full-text search into SQLite: without it the build
# fails and names the tag.
TAGS = -tags sqlite_fts5

TEST_FLAGS = -race -timeout 15m

LINT_VERSION = v2.15.0
LINT = bin/golangci-lint-$(LINT_VERSION)

# Programs whose standard output belongs in the bench report, after the Go
# benchmarks: folders, separated by blanks.
BENCH_REPORTS = internal/bench/run
BENCH = .
BENCH_FLAGS = -benchmem

.PHONY: help run test lint generate bench cases layering rules boards compiler vet format generated browser unit

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: compiler ## build bin/agentd and run its demo: one command to a call that you approve; ADDR=127.0.0.1:8081 picks another address
	@$(GO) build $(TAGS) -o bin/agentd ./cmd/agentd
	@exec bin/agentd demo --addr $(ADDR)

test: compiler format generated vet browser rules boards unit ## everything that must hold before a commit, race detector included

lint: $(LINT) ## the house style, by the pinned linter (built into ./bin the first time)
	$(LINT) run ./...

generate: ## write the generated files anew
	$(GO) tool templ generate
	$(GO) generate $(TAGS) ./...
	cd deploy/grafana && $(GO) run . .

bench: compiler ## print the bench report; BENCH=regexp picks
	@packages=$$(find . -name '*_test.go' -exec grep -l '^func Benchmark' {} + | \
		sed 's|/[^/]*$$||' | sort -u); \
	if [ -n "$$packages" ]; then \
		$(GO) test $(TAGS) -run '^$$' -bench '$(BENCH)' $(BENCH_FLAGS) -p 1 $$packages; \
	fi
	@for program in $(BENCH_REPORTS); do $(GO) run $(TAGS) "./$$program" || exit 1; done

cases: compiler ## judge the machine-readable cases of DIR=folder, a line a case
	@test -n "$(DIR)" || { echo 'make cases: say where they are: make cases DIR=folder' >&2; exit 2; }
	@$(GO) run $(TAGS) ./internal/cases/run "$(DIR)"

layering: ## only the package map: who may import whom
	$(GO) test $(TAGS) ./internal/layering

# promtool comes with Prometheus. The test of cmd/agentd that starts a whole
# Prometheus wants it as well.
rules: ## the alerts of deploy/prometheus: each one firing and silent
	@cd deploy/prometheus; if ! command -v promtool >/dev/null; then \
		echo 'make: SKIPPED: there is no promtool, so the rules are not tested; REQUIRE_ALL=1 makes that a failure' >&2; \
		test -z "$$REQUIRE_ALL"; \
	elif ! out=$$(promtool check config prometheus.yml && promtool test rules rules_test.yml); then \
		echo "$$out" >&2; exit 1; \
	fi

# A module of its own, so that nothing here needs Grafana's library.
boards: ## the boards of deploy/grafana: that the files are what the program writes
	@cd deploy/grafana && $(GO) vet . && $(GO) test .

# SQLite is C. Go switches cgo off without a word where it finds no compiler,
# and what is built then fails at its first database; say it here instead.
compiler:
	@test "$$($(GO) env CGO_ENABLED)" = 1 || { \
		echo 'make: SQLite needs a C compiler: install gcc or clang, and do not set CGO_ENABLED=0' >&2; exit 1; }

# go test says nothing of what it skipped; this does.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
		echo 'make: SKIPPED: there is no chromium, so the tests in a browser do not run; REQUIRE_ALL=1 makes that a failure' >&2; \
		test -z "$$REQUIRE_ALL"; }

format:
	@files=$$(gofmt -l .); test -z "$$files" || { \
		echo "not formatted, run gofmt -w on:" >&2; echo "$$files" >&2; exit 1; }

generated:
	@$(GO) tool templ generate -check -log-level error || { \
		echo 'generated files are older than their templates: make generate' >&2; exit 1; }

vet:
	$(GO) vet $(TAGS) ./...

unit:
	$(GO) test $(TAGS) $(TEST_FLAGS) ./...

# The version is in the name, so that a new pin is built and an old one is not
# run by mistake. GOFLAGS is for this module, not for building a tool.
$(LINT):
	@echo 'building golangci-lint $(LINT_VERSION), once'
	@mkdir -p bin
	@GOFLAGS= GOBIN="$$(pwd)/bin/.install" $(GO) install \
		github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv bin/.install/golangci-lint $(LINT)
	@rmdir bin/.install
