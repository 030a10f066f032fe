# Every way of running something, one obvious way each.
.DEFAULT_GOAL := help
LDFLAGS := -s -w

.PHONY: help setup build demo test bench lint fuzz golden generate histories vuln clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS='	' read -r name what; do printf '  make %-10s %s\n' "$$name" "$$what"; done

setup: ## install the Debian packages that the lab, the demo and the tests need
	@sh testsuite/make/setup.sh testsuite/lab/packages.txt testsuite/make/packages.txt

build: ## build the programs into bin/
	@echo "building bin/; the first time this takes minutes"
	@mkdir -p bin && go build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...
	@cd embedded && go build -ldflags '$(LDFLAGS)' -o ../bin/ ./cmd/...

demo: build ## bring up a simulated fabric and run it from a channel; TOUR=1 plays every operation and ends
	@sh testsuite/make/setup.sh testsuite/lab/packages.txt
	@bin/fabriclab demo $(if $(TOUR),-tour)

test: setup build ## run every test of both modules
	@sh testsuite/make/test.sh

bench: setup build ## measure, one JSON line per figure
	@sh testsuite/make/setup.sh $(wildcard testsuite/bench/packages.txt)
	@go run ./testsuite/bench

lint: ## gofmt, go vet, staticcheck, workflowcheck, deadcode
	@sh testsuite/make/lint.sh

fuzz: ## fuzz every target for 10 s; FOR=1m for longer
	@sh testsuite/make/fuzz.sh $(or $(FOR),10s)

golden: ## rewrite the golden files; read the difference before committing it
	@sh testsuite/make/golden.sh

generate: ## renew what is made from the declarations: docs/operations.md, deploy/slack-manifest.yaml
	@go run ./internal/gen

histories: ## record the histories that workflows must be able to replay
	@cd embedded && go run ./internal/withengine -- go -C .. test ./workflows -run '^TestHistories$$' -count=1 -record

vuln: ## look for known vulnerabilities (asks vuln.go.dev)
	@go tool govulncheck ./... && env -C embedded "$$(go tool -n govulncheck)" ./...

clean: ## remove what was built
	@rm -rf bin coverage.out
