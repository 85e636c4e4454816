# mldpbench: needs only Go. `make help` lists the targets.
GO      ?= go
STUDY   ?= mini
DATA    ?=
RESULTS ?= results/$(STUDY)
RUNFLAGS ?=
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

.PHONY: help build test race reproduce check bench lint figures asm fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/mldp
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/mldp ./cmd/mldp

test: ## run all tests
	$(GO) test ./...

race: ## run the concurrent packages under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short ./internal/... ./embeddings/... ./mechanisms/... ./models/... ./experiments/...

reproduce: build ## run STUDY (default mini: generated corpus, no downloads) from start to finish
	./bin/mldp run $(STUDY) $(if $(DATA),--data $(DATA)) $(RUNFLAGS)

check: build ## rerun mini and compare it with results/reference/mini.csv
	rm -rf bin/check # finished cells would be reused, whatever the code does now
	./bin/mldp run mini --out bin/check
	./bin/mldp check --baseline results/reference/mini.csv bin/check/results.csv

bench: ## kernels, search, models: go test -bench
	$(GO) test -run '^$$' -bench . -benchmem ./internal/kernel/... ./embeddings/... ./mechanisms/... ./models/...

figures: build ## draw the figures of STUDY again from its records
	./bin/mldp figures $(RESULTS) -o plots/$(STUDY)

asm: ## generate the assembly again (downloads avo) and fail if it differs from what is committed
	$(GO) generate ./internal/kernel
	git diff --exit-code -- internal/kernel

FUZZTIME ?= 20s
fuzz: ## run every fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s $$pkg || exit 1; \
	  done; done

lint: ## formatting, vet (amd64 and arm64), staticcheck
	@bad=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$bad" || { echo "gofmt: $$bad"; exit 1; }
	$(GO) vet ./...
	GOARCH=arm64 $(GO) vet ./internal/... ./embeddings/... ./mechanisms/... ./metrics/... ./results/...
	$(GO) tool staticcheck ./...

clean: ## remove what was built (results and plots stay)
	rm -rf bin
