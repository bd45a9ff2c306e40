# What people do with this tree. `make help` lists it.
GO ?= go
GOTESTSUM = gotest.tools/gotestsum@v1.13.0
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 10s
export PATH := $(PATH):/usr/sbin:/sbin:$(shell $(GO) env GOPATH)/bin

.PHONY: help build test race short lint fuzz generate smoke quickstart clean peers bench-load bench-diff

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

build: ## build ./planrun
	$(GO) build -o planrun ./cmd/planrun

peers: ## install the programs that tests run against (nginx, haproxy, caddy, apache2, wrk, h2load, fortio, vegeta)
	scripts/install-peers

# Many tests run real proxies in real time. One that fails on a machine with other work is run once more by itself; both
# are printed, and many failures are not tried again.
test: peers ## install what the tests need, and run them all
	$(GO) vet ./...
	$(GO) run $(GOTESTSUM) --format pkgname-and-test-fails --rerun-fails=1 --rerun-fails-max-failures=6 --packages=./... -- -timeout 15m

short: ## the tests that start no peers and take no time
	$(GO) test -short ./...

race: peers ## all tests under the race detector
	$(GO) test -race -timeout 20m ./...

lint: ## gofmt, go vet and staticcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt -w these:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

fuzz: ## each fuzz target for FUZZTIME
	scripts/fuzz $(FUZZTIME)

generate: ## schema.json and docs/reference.md from the structs
	$(GO) run ./cmd/planrun schema > schema.json.new && mv schema.json.new schema.json
	$(GO) run ./cmd/planrun explain --reference > docs/reference.md.new && mv docs/reference.md.new docs/reference.md

quickstart: ## run plans/quickstart.yaml
	$(GO) run ./cmd/planrun plans/quickstart.yaml

bench-load: peers ## the load worker's CPU time for a request, as ratios to other load generators (BENCH: its options)
	$(GO) run ./internal/load/bench $(BENCH)

bench-diff: peers ## how often planrun diff raises a false alarm, and finds 5 % (BENCH: its options)
	$(GO) run ./engine/diff/bench $(BENCH)

smoke: peers ## run plans/round2.yaml at its smallest size
	$(GO) run ./cmd/planrun plans/round2.yaml --preset smoke

clean: ## remove what was built and the result sets
	rm -rf planrun bin results
