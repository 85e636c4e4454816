# mldpbench: needs only Go. `make help` lists the targets.
GO      ?= go
STUDY   ?= mini
DATA    ?=
RESULTS ?= runs/$(STUDY)
RUNFLAGS ?=
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

# Packages whose tests take a second or two each.
FAST ?= ./internal/... ./stream ./metrics ./results/... ./datasets/table ./experiments/cluster ./experiments/engine

.PHONY: help build dist wheel test long fast test-arm64 race reproduce check bench speed lint shape study adapters reports figures look asm fuzz findings engines clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/mldp
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/mldp ./cmd/mldp

# The version is the only thing that tells two builds of one commit apart.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
dist: ## stripped, reproducible programs for PLATFORMS in dist/ (nothing else compiles for macOS and Windows), with SHA256SUMS; runs the linux/arm64 one under qemu-user
	rm -rf dist && mkdir dist
	@set -e; for platform in $(PLATFORMS); do \
	  export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
	  out=dist/mldp-$(VERSION)-$$GOOS-$$GOARCH; [ $$GOOS != windows ] || out=$$out.exe; echo $$out; \
	  $(GO) build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o $$out ./cmd/mldp; \
	done
	GO=$(GO) .ci/notices > dist/THIRD_PARTY.txt
	cd dist && { sha256sum mldp-* 2>/dev/null || shasum -a 256 mldp-*; } > SHA256SUMS
	@arm=dist/mldp-$(VERSION)-linux-arm64; native=dist/mldp-$(VERSION)-$$($(GO) env GOHOSTOS)-$$($(GO) env GOHOSTARCH); \
	[ ! -e $$arm ] || .ci/arm64 $$arm $$([ ! -e $$native ] || echo $$native)

wheel: dist ## wheels of the Python package for PLATFORMS in dist/ (needs python3; pip gets what builds them)
	@set -e; for platform in $(PLATFORMS); do \
	  GO=$(GO) MLDP_VERSION=$(VERSION) GOOS=$${platform%/*} GOARCH=$${platform#*/} \
	  python3 -m pip wheel --quiet --no-deps --wheel-dir dist ./python; done
	cd dist && { sha256sum mldp-* mldpbench-*.whl 2>/dev/null || shasum -a 256 mldp-* mldpbench-*.whl; } > SHA256SUMS

# A quarter of the processor time would go to collecting garbage of tests that end soon.
test: ## the tests (make long: those that take minutes)
	GOGC=$${GOGC:-400} $(GO) test -trimpath -vet=off -timeout 30m ./...

long: ## the tests that take minutes: real data, simulations, mistakes planted in the templates (MLDP_LONG=all: hours)
	GOGC=$${GOGC:-400} MLDP_LONG=$${MLDP_LONG:-1} $(GO) test -trimpath -vet=off -timeout 60m -run '^TestLong' ./...

fast: ## the tests that take seconds
	$(GO) test -trimpath -vet=off -short $(FAST)

engines: ## mldpbench in Spark, Ray, datasets, Dask, polars, pandas, datatrove and Presidio, which pip gets (needs Java; make long runs it, too)
	MLDP_LONG=1 $(GO) test -trimpath -vet=off -count=1 -timeout 60m -v -run '^TestLongEngines$$' ./cmd/mldp

test-arm64: ## run the kernels, the search and the LSTM for arm64, where qemu-user is installed
	GO=$(GO) .ci/arm64

# Tests of one sampler's law, of a bound, of keys or of what attackers reach: ten times as slow here, and
# what of them is concurrent is run by shorter tests.
SERIAL = TestVerdicts|TestCeilingAndFloor|TestAsRun.*|TestNoiseFamilyOnTheLine|TestRowsDraw|TestTailDraws|TestShareBoundsHold|TestStrongestIsNotFlattered|TestGameIsBelowTheExactLoss|TestMeasurementsConform|TestAttackersOfAStudy|TestKeysFollowWhatComesFromOutside|TestBuiltinStudiesAreSound
race: ## run the concurrent packages under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -vet=off -timeout 30m -race -short -skip '^($(SERIAL))$$' ./internal/... ./embeddings/... ./mechanisms/... ./models/... ./experiments/...

reproduce: build ## run STUDY (default mini: generated corpus, no downloads) from start to finish; figures go to plots/STUDY
	./bin/mldp run $(STUDY) --figures plots/$(notdir $(basename $(STUDY))) $(if $(DATA),--data $(DATA)) $(RUNFLAGS)

check: build ## rerun mini and compare it with results/reference/mini.csv.gz
	rm -rf bin/check # finished cells would be reused, whatever the code does now
	./bin/mldp run mini --out bin/check
	./bin/mldp check --baseline results/reference/mini.csv.gz bin/check/results.csv

bench: build ## the table of bench/README.md: this program beside numpy, faiss and PyTorch of today, in turn on one core
	python3 bench/bench.py $(BENCHFLAGS)

speed: ## fail if a hot loop is 1.25 times as slow as recorded, in five processes (RECORD=1 records)
	$(GO) test -count=1 -tags speed -vet=off -v -run TestSpeed ./bench $(if $(RECORD),-record)

study: build ## all records of results/reference, as results/records.yaml lists them; resumes (needs MLDP_DATA)
	$(GO) run ./results/study

reports: ## write the pages of results/reports from their templates and the committed records
	$(GO) run ./results/reports

figures: build ## draw the figures of STUDY again from its records
	./bin/mldp figures $(RESULTS)

SHOT = chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=8000
look: build ## pictures of the page of RESULTS (desktop, dark, phone, print) in bin/look; needs Chromium
	mkdir -p bin/look && ./bin/mldp report $(RESULTS) -o bin/look/page.html --force
	echo '<body style="margin:0"><iframe src="page.html" style="width:390px;height:1500px;border:0">' > bin/look/phone.html
	$(SHOT) --window-size=1280,1700 --screenshot=bin/look/desktop.png file://$(CURDIR)/bin/look/page.html
	$(SHOT) --window-size=1280,1700 --blink-settings=preferredColorScheme=0 --screenshot=bin/look/dark.png file://$(CURDIR)/bin/look/page.html
	$(SHOT) --window-size=500,1500 --allow-file-access-from-files --screenshot=bin/look/phone.png file://$(CURDIR)/bin/look/phone.html
	$(SHOT) --no-pdf-header-footer --print-to-pdf=bin/look/print.pdf file://$(CURDIR)/bin/look/page.html

asm: ## generate the assembly again (needs llvm-mc) and fail if it differs from what is committed
	$(GO) generate ./internal/kernel
	git diff --exit-code -- internal/kernel

FUZZTIME ?= 20s
fuzz: ## run every fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$pkg || exit 1; \
	  done; done

adapters: build ## run examples/adapters with the libraries they adapt, each in bin/adapters, and write the table of docs/python.md (8 GB; needs MLDP_DATA)
	$(GO) test -tags adapters -count=1 -vet=off -timeout 120m -parallel 5 -v -run 'TestAdapters|TestExamples' ./mechanisms/external

lint: ## formatting, budgets of what users see, vet (kernels for arm64 too), staticcheck, shape of the code, ruff and mypy
	@bad=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$bad" || { echo "gofmt: $$bad"; exit 1; }
	.ci/budgets
	$(GO) vet ./...
	CGO_ENABLED=0 GOARCH=arm64 $(GO) vet ./internal/kernel ./embeddings/nearest
	$(GO) tool staticcheck ./...
	.ci/shape
	.ci/python

shape: ## write the numbers of .ci/shape.txt that fell
	.ci/shape write

findings: ## run what was found about outside tools (findings/*.sh, which need the network) and say what changed
	@changed=; for f in findings/*.sh; do echo "== $$f"; bash $$f || changed="$$changed $$f"; done; \
	  test -z "$$changed" || { echo "changed, or could not run:$$changed"; exit 1; }

clean: ## remove what was built (runs stay)
	rm -rf bin dist
