# Waybill's tasks; `make help` lists them. Each needs Go and nothing else: what else it needs it
# finds, or installs, or says how.

# The service needs this Go; an older one that is installed fetches it by itself.
export GOTOOLCHAIN := go1.27.3

# Which packages `make test` tests: make test PACKAGES="./outbox/... ./cmd/api"
PACKAGES ?= ./...

# More flags for go test: make test TESTFLAGS="-run TestAccept -v"
TESTFLAGS ?=

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# The linter takes minutes to build, so it is kept outside of the working copy.
LINT_VERSION := 2.15.0

# The scanner for known vulnerabilities, and the advisories it knows: raise both before a release.
VULN_VERSION := v1.9.0
VULNDB_VERSION := v0.0.0-20261105234957-e22db6528018

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/waybill
LINT := $(CACHE)/golangci-lint-$(LINT_VERSION)
VULNDB := $(CACHE)/vulndb-$(VULNDB_VERSION)

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z\/-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Show, in half a minute, that a label is bought once although everything fails
	@bin/dev demo

.PHONY: run
run: build ## Keep the service up in the foreground, with lines to paste; state is kept in run/
	@bin/dev run

.PHONY: build
build: ## Build all programs into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X waybill/internal/command.Version=$(VERSION)" -o bin/ ./cmd/...

.PHONY: test
test: bin/dev ## Test everything, or PACKAGES, with the race detector and a Postgres of its own
	bin/dev postgres -- go test -race -shuffle=on $(TESTFLAGS) $(PACKAGES)
	$(if $(filter ./...,$(PACKAGES)),bin/dev postgres -- go test -tags faultinject -shuffle=on $(TESTFLAGS) ./crash ./internal/fault)

.PHONY: crash
crash: bin/dev ## Break every fault point in every way, play all pairs of deaths, kill real programs at every point
	bin/dev postgres -- go test -tags faultinject ./crash -count=1 -v -timeout 60m -args -full
	bin/dev postgres -- go test -tags faultinject ./e2e -run '^TestEveryPointKillsTheProcess$$' -count=1 -v -timeout 20m

# How make chaos goes about it: a seed decides everything, and 0 takes one from the clock; CLASS is
# keyed, lookup, blind, or empty for all of them at once; WORLD=1 has USPS, EasyPost and FedEx as they speak;
# DURATION=0 is the short run of make test; RACE= does without the race detector.
SEED ?= 0
DURATION ?= 3m
CLASS ?=
WORLD ?=
RACE ?= -race

.PHONY: chaos
chaos: ## Kill, freeze, cut and fill everything at once, for DURATION; SEED= repeats a run, CLASS= picks one
	@mkdir -p run/chaos
	go test $(RACE) ./e2e -run '^TestChaos$$' -count=1 -v -timeout 24h -artifacts -outputdir run/chaos \
		-args -chaos.seed=$(SEED) -chaos.duration=$(DURATION) -chaos.class=$(CLASS) $(if $(WORLD),-chaos.world)

# Only some of them: make mutants MUTANTS="lease|COMMIT". Which of them another test finds as well, which
# it need not: make mutants BY=TestProperties
MUTANTS ?=
BY ?=

.PHONY: mutants
mutants: bin/dev ## Plant every bug of internal/mutants in turn, and see that its test turns red
	bin/dev postgres -- go test ./internal/mutants -run '^TestEveryMutantIsFound$$' -count=1 -v -timeout 30m \
		-args -plant -mutants='$(MUTANTS)' -by='$(BY)'

# The long explorations too: make model MODELFLAGS=-all
MODELFLAGS ?=

.PHONY: model
model: ## Explore every state of the formal model; what must hold holds, every known mistake is found out (a minute)
	cd model && go test -run '^TestEveryVariant$$' -count=1 -timeout 30m -args -explore $(MODELFLAGS)

.PHONY: postgres-faults
postgres-faults: bin/dev ## A full disk, flushes that fail or take long, an old backup (5 minutes; as root, else without the disk)
	bin/dev postgres -- go test -tags postgresfaults -timeout 15m -count=1 -run 'TestFlush|TestDiskFull|TestRestore' $(TESTFLAGS) ./e2e

.PHONY: pgbouncer
pgbouncer: bin/dev ## The whole end-to-end suite with all programs behind PgBouncer in transaction mode (2 minutes)
	bin/dev postgres -- go test ./e2e -count=1 -timeout 20m $(TESTFLAGS) -args -pooler

# How long make overload offers twice the capacity; all of it takes five times as long and more.
OVERLOAD ?= 60s

.PHONY: overload
overload: ## Offer twice what it can do, flood it from one caller, take the carrier away; wants the machine to itself (6 minutes)
	@mkdir -p run/overload
	go test -tags overload ./e2e -run '^TestOverload$$' -count=1 -v -timeout 60m -artifacts -outputdir run/overload \
		-args -overload.duration=$(OVERLOAD)

# How many invoice lines, and labels, make bench-reconcile begins with; it then takes twice as many.
LINES ?= 200000

.PHONY: bench-reconcile
bench-reconcile: bin/dev ## Reconcile LINES lines against as many labels, and twice as many: lines a second, memory, ratio (1 minute)
	bin/dev postgres -- go test -tags size ./cmd/reconcile -run '^TestSize$$' -count=1 -v -timeout 60m -args -size.lines=$(LINES)

# How long make fuzz stays with each target.
FUZZTIME ?= 20s

.PHONY: fuzz
fuzz: ## Feed every parser what no caller or carrier should send, FUZZTIME each
	FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: verify
verify: vet lint tidy vuln test ## Everything that must pass before a change is handed in

.PHONY: lint
lint: $(LINT) ## Run the linters
	$(LINT) run

.PHONY: fmt
fmt: $(LINT) ## Format the code
	$(LINT) fmt

.PHONY: vet
vet: ## Run go vet
	go vet ./...

.PHONY: vuln
vuln: $(VULNDB) ## Fail if the code reaches a known vulnerability (67 MB of advisories, fetched once)
	go run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) -db file://$(VULNDB) ./...

.PHONY: tidy
tidy: ## Fail if go.mod is not tidy
	go mod tidy -diff

.PHONY: db/schema
db/schema: ## Write migrations/schema.sql anew from the migrations
	go test ./migrations -run '^TestSchemaFile$$' -count=1 -update

.PHONY: tools
tools: bin/dev $(LINT) ## Install what the other targets would install when they need it
	bin/dev tools

.PHONY: clean
clean: ## Remove what was built, and the state of make run
	@[ ! -L run/postgres ] || rm -rf "$$(readlink run/postgres)"
	rm -rf bin run

# Always asked for: the go command knows best whether it is up to date.
.PHONY: bin/dev
bin/dev:
	@go build -o bin/dev ./cmd/dev

# An installed linter of the same version will do.
$(LINT):
	@mkdir -p $(CACHE)
	@for found in "$$(command -v golangci-lint)" "$$(go env GOPATH)/bin/golangci-lint"; do \
		if [ -x "$$found" ] && "$$found" version 2>/dev/null | grep -q 'version v\?$(LINT_VERSION) .*go1\.27'; then \
			ln -sf "$$found" $(LINT); exit 0; \
		fi; \
	done; \
	echo "building golangci-lint $(LINT_VERSION), once"; \
	dir=$$(mktemp -d) && \
	GOBIN="$$dir" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(LINT_VERSION) && \
	mv "$$dir/golangci-lint" $(LINT) && rmdir "$$dir"

# The advisories are a module, so its proxy is all that a scan needs.
$(VULNDB):
	@mkdir -p $(CACHE)
	go run ./internal/vulndb $(VULNDB_VERSION) $(VULNDB)
