fb_sum() { $fb_as sha256sum -- "$1" 2>/dev/null | { read -r fb_x fb_y; echo "${fb_x#\\}"; }; }
# Nothing is sent when the file is there with the same content and mode.
fb_put_look() {
	fb_as=
	fb_at=${1%/*}
	while [ -n "$fb_at" ] && [ ! -d "$fb_at" ]; do fb_at=${fb_at%/*}; done
	[ "$fb_sudo" != 1 ] || [ -w "${fb_at:-/}" ] || fb_as='sudo -n'
	exec 8>&-
	command -v sha256sum >/dev/null 2>&1 || { fb_go="nosum"; return; }
	if [ "$(fb_sum "$1")" = "$3" ] && [ "$(stat -L -c %a -- "$1" 2>/dev/null)" = "$2" ]; then
		fb_go="same"
	fi
}
# Receive into a file beside the target, check it, rename it over the target.
fb_put() {
	$fb_as mkdir -p -- "${1%/*}" || { echo "bad mkdir"; return 1; }
	fb_new=${1%/*}/.fabricbot.$$
	trap '$fb_as rm -f -- "$fb_new"' EXIT
	trap 'exit 1' HUP INT TERM PIPE
	$fb_as tee -- "$fb_new" >/dev/null || { echo "bad write"; return 1; }
	fb_got=$(fb_sum "$fb_new")
	[ "$fb_got" = "$3" ] || { echo "bad sum $fb_got"; return 1; }
	$fb_as chmod -- "$2" "$fb_new" || { echo "bad chmod"; return 1; }
	sync "$fb_new" 2>/dev/null || :
	$fb_as mv -f -- "$fb_new" "$1" || { echo "bad rename"; return 1; }
	echo "done"
}
