# Signal process $1 only while its command name is still $2.
fb_signal() {
	exec 8>&-
	{ read -r fb_comm <"/proc/$1/comm"; } 2>/dev/null || { echo "bad no process $1"; return; }
	[ "$fb_comm" = "$2" ] || { echo "bad process $1 is $fb_comm"; return; }
	if kill -"$3" "$1" 2>/dev/null || { [ "$fb_sudo" = 1 ] && sudo -n kill -"$3" "$1"; }; then echo "done"; else echo "bad kill refused"; fi
}
