# Draw the next lease token for run $1 and remember it as the newest; a run
# that drew the newest gets it again. Under the journal lock, so that two runs
# never draw the same.
fb_draw() {
	command -v flock >/dev/null 2>&1 || { echo "bad flock is missing (package util-linux)"; return; }
	fb_state || { echo "bad $fb_dir cannot be written"; return; }
	flock -w 20 8 || { echo "bad $fb_jobs stays locked"; return; }
	fb_seen=0 fb_by=
	[ ! -s "$fb_jobs/.token" ] || read -r fb_seen fb_by <"$fb_jobs/.token"
	case $fb_seen in '' | *[!0-9]*) echo "bad $fb_jobs/.token is damaged"; return ;; esac
	if [ "$fb_by" != "$1" ]; then
		fb_seen=$((fb_seen + 1))
		echo "$fb_seen $1" >"$fb_jobs/.token.new" && mv -f "$fb_jobs/.token.new" "$fb_jobs/.token" ||
			{ echo "bad $fb_jobs/.token cannot be written"; return; }
	fi
	echo "token $fb_seen"
}
