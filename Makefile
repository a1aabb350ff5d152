# Everything that is done often. `make help` lists it; .ci/run is `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := bin
GOLANGCI_VERSION := v2.15.0
DATA ?= porpoise-data
HTTP ?= 127.0.0.1:8080
# The product is one static binary; only the race detector needs cgo.
export CGO_ENABLED ?= 0
GO_FILES := $(shell git ls-files '*.go' 2>/dev/null)

.PHONY: help run build console compose test check format vet lint generated race tests test-console test-mysql bench demo-real mutants clean

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 16

run: console build ## Build, then run everything in one process (HTTP=..., DATA=...)
	$(BIN)/porpoise standalone --http $(HTTP) --data $(DATA)

build: ## Build bin/porpoise
	go build -trimpath -o $(BIN)/porpoise ./cmd/porpoise

console: ## Build the web console, where its source and Node are there
	@if [ ! -f ui/package.json ]; then echo "console: no source here, the binary carries a placeholder page"; \
	elif ! command -v npm >/dev/null; then echo "console: no npm here, the binary carries what is in ui/dist"; \
	else cd ui && npm install --no-save --no-audit --no-fund && npm run build; fi

test: check compose tests test-console ## Everything that must hold, as .ci/run runs it

test-console: ## The web console: types, lint, unit tests, bundle budget, journeys in a real browser (Node; in CI a must)
	@echo "== console"
	@if ! command -v npm >/dev/null; then \
		if [ -n "$${CI:-}" ]; then echo "console: CI needs npm (Node 20 or newer)"; exit 1; fi; \
		echo "console: left out, there is no npm here"; \
	else \
		cd ui && npm install --no-save --no-audit --no-fund && npm run check && npm test && npm run build && \
		cd .. && $(MAKE) --no-print-directory build && cd ui && npm run e2e; \
	fi

check: format vet lint generated race ## Format, vet, lint, generated files, tests under the race detector

format: $(BIN)/golangci-lint
	@echo "== format (gofumpt)"
	@$(BIN)/golangci-lint fmt --diff > $(BIN)/format.diff || true
	@if [ -s $(BIN)/format.diff ]; then cat $(BIN)/format.diff; echo "not formatted: bin/golangci-lint fmt"; exit 1; fi

vet:
	@echo "== vet"
	@go vet ./...

lint: $(BIN)/golangci-lint
	@echo "== lint (golangci-lint $(GOLANGCI_VERSION))"
	@$(BIN)/golangci-lint run ./...

$(BIN)/golangci-lint:
	@echo "== installing golangci-lint $(GOLANGCI_VERSION) into $(BIN) (a minute, once)"
	@mkdir -p $(BIN)
	@GOBIN=$(CURDIR)/$(BIN) GOFLAGS= go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

generated: ## Check that generated files are what their sources give
	@echo "== generated files"
	@scripts/generated

compose: ## Check docker-compose.yml by docker-compose (installed from Debian's packages as root)
	@echo "== compose file"
	@scripts/check-compose

race: ## All tests under the race detector, with MariaDB (needs a C compiler)
	@echo "== all tests with -race; MariaDB is started for them and stopped afterwards"
	@scripts/tests race

tests: ## Tests that the race detector leaves out; all, where there is no C compiler
	@echo "== tests without -race"
	@scripts/tests rest

test-mysql: ## The store's tests on MySQL: PORPOISE_TEST_MYSQL=root:pw@tcp(host:3306)/, or Debian sid's in a chroot (root)
	scripts/with-mysql go test -count=1 -timeout 15m ./sql/...

bench: build ## Measure, against limits measured in the same run; a table on the screen
	go run ./bench/bars --porpoise $(BIN)/porpoise
	scripts/with-mariadb --flush=1 go run ./bench/lists

demo-real: build ## Run real workflows, on one node and on a cluster of processes
	scripts/with-mariadb --flush=1 go run ./bench/real --porpoise $(BIN)/porpoise $(if $(PORPOISE_INPUTS),--inputs $(PORPOISE_INPUTS))

mutants: ## Plant faults in the core; every one must be caught by its tests
	go run ./dag/mutants

clean: ## Remove what was built (not data folders)
	rm -rf $(BIN)
