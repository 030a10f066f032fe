#!/bin/sh
# Run the tests of both modules as one run with one summary at its end.
set -eu

# CI's copy of the events, for whoever wants to count.
mkdir -p bin
exec go tool gotestsum --format pkgname-and-test-fails --hide-summary skipped --jsonfile bin/test.json --raw-command -- sh -c '
	status=0
	go test -json -timeout 15m ./... || status=1
	go -C embedded test -json -timeout 15m ./... || status=1
	exit $status'
