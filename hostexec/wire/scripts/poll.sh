fb_poll() {
	# Wait for a start that is just launching; a host without a journal has no job.
	fb_state 2>/dev/null || { printf 'state absent\n\n'; return; }
	flock -s -w 20 8 8>&8 2>/dev/null
	fb_report "$1" "$2"
}
