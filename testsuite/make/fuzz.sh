#!/bin/sh
# Fuzz every target for the time given, one after the other, and fail at the
# end if any failed. What it finds is written to the package's testdata/fuzz.
set -eu

time=$1
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
grep -rl '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
	dir=$(dirname "$file")
	grep -o '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r target; do
		echo "== $dir $target"
		# Run from the package's folder, since it may be of the nested module.
		go -C "$dir" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" . || echo "$dir $target" >>"$failed"
	done
done
[ ! -s "$failed" ] || { echo "failed:"; cat "$failed"; exit 1; }
