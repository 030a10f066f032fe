#!/bin/sh
# Judge the code of both modules. Everything runs before it fails.
set -u

# The nested module uses the tools that the root module pins.
staticcheck=$(go tool -n staticcheck) && deadcode=$(go tool -n deadcode) || exit 1

status=0
judge() {
	name=$1
	shift
	if out=$("$@" 2>&1) && [ -z "$out" ]; then
		echo "ok   $name"
	else
		echo "FAIL $name"
		printf '%s\n' "$out" | sed 's/^/     /'
		status=1
	fi
}

# deadcode of the programs: what no main reaches. Functions that only tests
# reach are test support in a production file and belong in one of testsuite,
# fabrictest or hosttest.
dead() {
	go tool deadcode -test ./... && env -C embedded "$deadcode" -test ./...
}

judge gofmt gofmt -l .
judge 'go vet' go vet ./...
judge 'go vet embedded' go -C embedded vet ./...
judge staticcheck go tool staticcheck ./...
judge 'staticcheck embedded' env -C embedded "$staticcheck" ./...
judge workflowcheck go tool workflowcheck ./workflows
judge deadcode dead
exit $status
