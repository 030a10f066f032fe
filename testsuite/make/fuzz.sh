#!/bin/sh
# Fuzz every target for the time given, one after the other.
set -eu

time=$1
grep -rl '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
	package=./$(dirname "${file#./}")
	grep -o '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r target; do
		echo "== $package $target"
		case $package in
		./embedded*) go -C embedded test "./${package#./embedded}" -run '^$' -fuzz "^$target\$" -fuzztime "$time" ;;
		*) go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" ;;
		esac
	done
done
