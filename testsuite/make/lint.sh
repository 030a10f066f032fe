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

# What neither a program nor a test reaches. Only told, since a program of the
# nested module may be the one that does.
dead() {
	go tool deadcode -test ./...
	env -C embedded "$deadcode" -test ./...
}

judge gofmt gofmt -l .
judge 'go vet' go vet ./...
judge 'go vet embedded' go -C embedded vet ./...
judge staticcheck go tool staticcheck ./...
judge 'staticcheck embedded' env -C embedded "$staticcheck" ./...
judge workflowcheck go tool workflowcheck -config workflowcheck.yaml ./workflows
echo "     deadcode:"
dead | sed 's/^/     /'
exit $status
