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
	@awk -F ':.*## ' '/^[a-z\/]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

.PHONY: verify
verify: vet lint tidy test ## Everything that must pass before a change is handed in

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
