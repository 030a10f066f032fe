#!/bin/sh
# Install the Debian packages named in the files given, if any is missing.
# Quiet when nothing is.
set -eu

[ $# -gt 0 ] || exit 0
packages=$(sed 's/#.*//' "$@" | tr -s ' \t' '\n' | sort -u | grep . || true)
missing=
for p in $packages; do
	case $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true) in
	installed) ;;
	*) missing="$missing $p" ;;
	esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
	as_root='sudo -n'
	$as_root true || { echo "setup: these packages are missing and need root to install:$missing" >&2; exit 1; }
fi
echo "setup: installing$missing"
install() {
	# shellcheck disable=SC2086 # lists of words
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $missing >"$log" 2>&1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists of a fresh machine are empty or old; fetch them only then.
install && exit 0
$as_root apt-get update -qq >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
install || { cat "$log" >&2; echo "setup: apt-get could not install$missing" >&2; exit 1; }
