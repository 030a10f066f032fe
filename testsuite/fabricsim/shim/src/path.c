/*
 * Paths: with FABRICSIM_DIR=DIR in the environment, /dev/infiniband is DIR/dev,
 * /sys/class/infiniband is DIR/infiniband and /sys/class/infiniband_mad is
 * DIR/infiniband_mad, for hosts without a file system of their own.
 */
#include "shim.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *moved(const char *path, char *buf, size_t size)
{
	static const char *const from[] = { "/sys/class/infiniband_mad", "/sys/class/infiniband", "/dev/infiniband" };
	static const char *const to[] = { "infiniband_mad", "infiniband", "dev" };
	const char *dir = getenv("FABRICSIM_DIR");

	if (!path || path[0] != '/' || !dir || !*dir)
		return path;
	for (int i = 0; i < 3; i++) {
		size_t n = strlen(from[i]);

		if (strncmp(path, from[i], n) || (path[n] && path[n] != '/'))
			continue;
		if (snprintf(buf, size, "%s/%s%s", dir, to[i], path + n) < (int)size)
			return buf;
	}
	return path;
}

#define ON_PATH(ret, name, params, ...)                                        \
	ret name params                                                        \
	{                                                                      \
		char buf[PATH_ROOM];                                           \
		REAL(name);                                                    \
		path = moved(path, buf, sizeof(buf));                          \
		return real(__VA_ARGS__);                                      \
	}
ON_PATH(FILE *, fopen, (const char *path, const char *mode), path, mode)
ON_PATH(FILE *, fopen64, (const char *path, const char *mode), path, mode)
ON_PATH(DIR *, opendir, (const char *path), path)
ON_PATH(int, access, (const char *path, int mode), path, mode)
ON_PATH(ssize_t, readlink, (const char *path, char *to, size_t n), path, to, n)
ON_PATH(int, scandir,
	(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	 int (*order)(const struct dirent **, const struct dirent **)),
	path, list, filter, order)
ON_PATH(int, scandir64,
	(const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
	 int (*order)(const struct dirent64 **, const struct dirent64 **)),
	path, list, filter, order)
