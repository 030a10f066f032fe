/*
 * Talking to the simulator: requests, replies, and whole frames over a stream.
 */
#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

int real_close(int fd)
{
	REAL(close);
	return real(fd);
}

int send_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k < 0 && (errno == EAGAIN || errno == EINTR)) {
			struct pollfd pf = { .fd = fd, .events = POLLOUT };

			poll(&pf, 1, -1);
			continue;
		}
		if (k < 0)
			return -1;
		p += k;
		n -= k;
	}
	return 0;
}

int recv_all(int fd, void *data, size_t n, int wait)
{
	char *p = data;
	size_t done = 0;

	while (done < n) {
		ssize_t k = recv(fd, p + done, n - done, MSG_DONTWAIT);

		if (k > 0) {
			done += k;
			continue;
		}
		if (k == 0) {
			errno = EIO; /* the simulator is gone */
			return -1;
		}
		if (errno == EINTR && done)
			continue;
		if (errno != EAGAIN)
			return -1;
		if (!done && !wait)
			return -1;
		struct pollfd pf = { .fd = fd, .events = POLLIN };

		if (poll(&pf, 1, -1) < 0 && !done)
			return -1;
	}
	return 0;
}

int ask(const struct sockaddr_un *sa, struct request *req, uint64_t *value)
{
	struct reply rep;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	req->magic = MAGIC;
	if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) < 0) {
		if (errno == ECONNREFUSED)
			errno = ENXIO; /* a device file without a device */
		goto fail;
	}
	if (send_all(fd, req, sizeof(*req)) < 0 || recv_all(fd, &rep, sizeof(rep), 1) < 0)
		goto fail;
	if (rep.magic != MAGIC || rep.error) {
		errno = rep.magic == MAGIC ? rep.error : EIO;
		goto fail;
	}
	if (value)
		*value = rep.value;
	return fd;
fail: {
	int e = errno;

	real_close(fd);
	errno = e;
	return -1;
}
}
