# Launch or attach. The journal lock (descriptor 8) is held throughout, so two
# starts of one id are one after the other; mkdir in the job itself is the proof.
fb_start() {
	fb_d=$fb_jobs/$1
	[ ! -f "$fb_d/busy" ] || rm -rf "$fb_d"
	if [ -d "$fb_d/begun" ]; then
		echo attached
		fb_report "$1" 0
		return
	fi
	command -v setsid >/dev/null 2>&1 || { echo "bad setsid is missing (package util-linux)"; return; }
	[ "$3" = 0 ] || command -v timeout >/dev/null 2>&1 || { echo "bad timeout is missing (package coreutils)"; return; }
	umask 077
	mkdir -p "$fb_d" "$fb_jobs/.locks" && printf '%s\n' "$4" >"$fb_d/cmd" && printf '%s' "$fb_jobrun" >"$fb_d/run" &&
		echo "$fb_token $fb_run" >"$fb_d/token" || { echo "bad journal $fb_d cannot be written"; return; }
	[ "$fb_sudo" != 1 ] || : >"$fb_d/sudo"
	if [ "$fb_stdin" = 1 ]; then
		cat >"$fb_d/stdin" || { echo "bad journal $fb_d cannot be written"; return; }
	fi
	fb_lock=
	[ -z "$2" ] || fb_lock=$fb_jobs/.locks/$2
	if [ -d /run/systemd/system ] && [ "$(id -u)" = 0 ] && command -v systemd-run >/dev/null 2>&1; then
		{ systemd-run --quiet --collect --no-block --unit="fabricbot-job-$1" --setenv=LC_ALL=C --setenv=TERM=dumb --setenv=NO_COLOR=1 \
			--setenv=PATH="$PATH" --setenv=HOME="$HOME" sh "$fb_d/run" "$fb_d" "$fb_lock" "$3" ||
			setsid sh "$fb_d/run" "$fb_d" "$fb_lock" "$3"; } </dev/null >/dev/null 2>&1 8>&- &
	else
		setsid sh "$fb_d/run" "$fb_d" "$fb_lock" "$3" </dev/null >/dev/null 2>&1 8>&- &
	fi
	fb_n=0
	while [ $fb_n -lt 100 ] && [ ! -f "$fb_d/pid" ] && [ ! -f "$fb_d/busy" ]; do
		sleep 0.05 2>/dev/null || sleep 1
		fb_n=$((fb_n + 1))
	done
	if [ -f "$fb_d/busy" ]; then
		read -r fb_by <"$fb_d/busy"
		rm -rf "$fb_d"
		printf 'new\nstate busy\ndetail lock %s is held by job %s\n\n' "$2" "$fb_by"
		return
	fi
	echo new
	fb_report "$1" 0
}
