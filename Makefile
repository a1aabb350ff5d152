# Everything that is done often. `make help` lists it; .ci/run is `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := bin
GOLANGCI_VERSION := v2.15.0
DATA ?= porpoise-data
HTTP ?= 127.0.0.1:8080
BEFORE ?= HEAD~1
# The product is one static binary; only the race detector needs cgo.
export CGO_ENABLED ?= 0
GO_FILES := $(shell git ls-files '*.go' 2>/dev/null)

.PHONY: help run build console compose test check format vet lint generated race tests test-console test-mysql bench bench-scale bench-fairness bench-retention profile bench-rebalance bench-schedules bench-schedules-long bench-failover bench-timers bench-outage bench-console demo-real sim mixed soak mutants chaos chaos-smoke crash-matrix planted clean

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

test: check tests chaos-smoke test-console ## Everything that must hold, as .ci/run runs it

# npm install and not npm ci: the lock file has the linter's program for Linux only, and npm ci
# wants those of every platform. --no-save keeps to the versions in the lock file all the same.
test-console: ## The web console: types, lint, unit tests, bundle budget, journeys in a real browser (Node; in CI a must)
	@echo "== console"
	@if ! command -v npm >/dev/null; then \
		if [ -n "$${CI:-}" ]; then echo "console: CI needs npm (Node 20 or newer)"; exit 1; fi; \
		echo "console: left out, there is no npm here"; \
	else \
		cd ui && npm install --no-save --no-audit --no-fund && npm run check && npm test && npm run build && \
		cd .. && $(MAKE) --no-print-directory build && cd ui && npm run e2e; \
	fi

check: format vet lint generated compose race ## Format, vet, lint, generated files, compose file, tests under the race detector

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

compose: ## Check docker-compose.yml by docker-compose (installed from Debian's packages as root); before the tests, of which one wants it
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

profile: build ## Flood a node and a cluster and keep each process's profiles in ./profile: processor time, allocations, mutexes, blocking; and the database's statements
	scripts/with-mariadb --flush=1 --statements go run ./bench/bars --porpoise $(BIN)/porpoise -runs 1 -only flood -profile profile || true
	@for f in profile/*-flood-64.cpu.pprof; do go tool pprof -top -nodecount 25 $(BIN)/porpoise $$f; done
	@for f in profile/*statements.md; do echo; echo "$$f"; cut -c1-200 $$f | head -20; done

bench: build ## Measure every bar against limits measured in the same run; a table on the screen and in bin/bench.md (under 15 minutes)
	scripts/with-mariadb --flush=1 go run ./bench/bars --porpoise $(BIN)/porpoise | tee $(BIN)/bench.md

bench-scale: build ## Measure large graphs, more masters and workers, 1,000 workers, a million instances and the plans of their lists (some fifteen minutes)
	scripts/with-mariadb --flush=1 go run ./bench/scale --porpoise $(BIN)/porpoise | tee $(BIN)/bench-scale.md
	scripts/with-mariadb --flush=1 go run ./bench/lists | tee -a $(BIN)/bench-scale.md
	go test -count=1 -v -run TestListsOfAMillionInstancesWalkAnIndexOnSQLite ./sql | tee $(BIN)/bench-plans.txt

bench-fairness: build ## Measure one project's p99 beside another's flood, full task group, backfill of 100 years, lower priority and lists, on a slow database, and what an overload is answered (some ten minutes)
	scripts/with-mariadb --flush=1 go run ./bench/scale --porpoise $(BIN)/porpoise -only burners,flood,group,backfill,priority,slow,lists,pressure | tee $(BIN)/bench-fairness.md

bench-retention: build ## Measure starts while a million old instances are deleted (half an hour: a master begins after ten minutes)
	scripts/with-mariadb --flush=1 go run ./bench/scale --porpoise $(BIN)/porpoise -only retention | tee $(BIN)/bench-retention.md

bench-rebalance: build ## Let the masters of a real cluster come and go, 200 times at 50 starts a second (some ten minutes)
	scripts/with-mariadb --flush=1 go run ./bench/rebalance --porpoise $(BIN)/porpoise

bench-schedules: build ## Let 10,000 schedules be due in the same second, and one each second for ten minutes (half an hour)
	scripts/with-mariadb --flush=1 go run ./bench/schedules --porpoise $(BIN)/porpoise

bench-schedules-long: build ## Kill the master that is about to fire each minute for half an hour, then define a million schedules (an hour)
	scripts/with-mariadb --flush=1 go run ./bench/schedules --porpoise $(BIN)/porpoise -bursts '' -idle 0 -minutely 1000 -defined 1000000

bench-failover: build ## Kill masters and workers of a real cluster, and say how soon their work goes on elsewhere; also how soon masters hear of each other's ends (half an hour)
	go run ./bench/cluster --porpoise $(BIN)/porpoise

bench-timers: build ## Fire 2,000 timers a second for five minutes (some seven minutes)
	go run ./bench/timers --porpoise $(BIN)/porpoise

bench-outage: build ## Take etcd, the database and the processors away from a cluster under load (half an hour; a full disk needs root)
	go run ./bench/outage --porpoise $(BIN)/porpoise -database 10s -hung 10s -connections 30s -readonly 30s -slow 60s -etcd 5m -turns 60s -burn 10m \
		$(if $(filter 0,$(shell id -u)),-full 60s)

bench-console: console build ## Measure the console in a real Chromium against its budgets (Node, Chromium)
	@if ! command -v node >/dev/null; then echo "console: left out, there is no node here"; else node bench/console/main.mjs; fi

demo-real: build ## Run real workflows, on one node and on a cluster of processes
	scripts/with-mariadb --flush=1 go run ./bench/real --porpoise $(BIN)/porpoise $(if $(PORPOISE_INPUTS),--inputs $(PORPOISE_INPUTS))

SEEDS ?= 2000
sim: ## Run simulated clusters with everything going wrong; a verdict as JSON (SEEDS=..., SIM='-seed 1 -duration 1h')
	go run ./bench/sim -count $(SEEDS) $(SIM)

mixed: ## Run today's binary beside that of an earlier commit, in both orders (BEFORE=..., the last commit by default)
	@dir=$$(mktemp -d) && trap 'git worktree remove --force "$$dir/tree"; rm -rf "$$dir"' EXIT && \
	git worktree add -q --detach "$$dir/tree" $(BEFORE) && (cd "$$dir/tree" && go build -trimpath -o "$$dir/porpoise" ./cmd/porpoise) && \
	PORPOISE_TEST_BEFORE="$$dir/porpoise" go test -count=1 -timeout 10m -tags mixed -run 'TestAVersionWorks|TestANodeIsUpgraded' ./bench/site

# Both tests of random runs play this many of each of their four parts: 200,000 in all.
CHECKS ?= 25000
soak: ## Play 200,000 random definitions with random ends, crashes and takeovers (half an hour; CHECKS=... of each eighth)
	go test -count=1 -timeout 6h -v -run TestRandomRuns ./dag -rapid.checks=$(CHECKS) -rapid.nofailfile -rapid.shrinktime=5m

mutants: ## Plant faults in the core, its dates and filters, and in the barrier; every one must be caught by its tests
	go run ./internal/house/mutants

# Four runs of 250 faults each, the last on SQLite: 1,000 in all, each class of 16 some 60 times.
RUNS ?= 1 2 3 4
chaos: ## Break a whole cluster 1,000 times (an hour and a half; RUNS=seeds, JSON verdicts on the screen)
	@profile=; for seed in $(RUNS); do \
		if [ "$$seed" = "$(lastword $(RUNS))" ]; then profile=-sqlite; fi; \
		go run ./bench/chaos -seed $$seed -faults 250 -within 20m -quota 12 $$profile; \
	done

SEED ?= 60
chaos-smoke: ## Break a whole cluster 32 times, in two minutes (SEED=...)
	@echo "== a cluster of 3 masters, 3 workers, 2 apiservers, 3 etcd and MariaDB is broken 32 times"
	go run ./bench/chaos -seed $(SEED) -faults 32 -within 120s -quota 2 -rate 1.2 -quiet

crash-matrix: ## End, delay or fail the product at every failpoint, one run each
	go run ./bench/chaos/matrix

planted: ## Plant bugs in the product; a chaos run must catch each
	go run ./bench/chaos/planted

clean: ## Remove what was built (not data folders)
	rm -rf $(BIN)
