#!/bin/sh
# Rewrite the goldens of every package whose tests know -update.
set -eu

grep -rl 'flag.Bool("update"' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r package; do
	go test "$package" -count=1 -update
done
git status --short -- '*/testdata/*'
