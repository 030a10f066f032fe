/*
 * Gives programs of a simulated host the device files that the kernel's
 * ib_umad module would: /dev/infiniband/umadN and issmN.
 *
 * The files are unix sockets of the fabric simulator. This library, preloaded
 * into an unmodified program, connects when one of them is opened and turns
 * read, write and ioctl into the simulator's frames, with the semantics of
 * Documentation/infiniband/user_mad.rst and rdma/ib_user_mad.h.
 *
 * poll and select need no help: a descriptor is readable when a frame waits.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>

#define MAD_SIZE 256
#define HDR_NEW ((ssize_t)sizeof(struct ib_user_mad_hdr))
#define HDR_OLD ((ssize_t)sizeof(struct ib_user_mad_hdr_old))

/* A frame's first part, which every frame has in full. */
struct chunk {
	uint32_t length, zero; /* bytes of MAD; those past MAD_SIZE follow */
	struct ib_user_mad_hdr hdr;
	uint8_t mad[MAD_SIZE];
};

struct dev {
	uint64_t token;
	int pkey;	   /* the caller uses the header with pkey_index */
	uint32_t agents;   /* registered ids, a bit each */
	int stashed;	   /* head was read, but the caller's buffer was small */
	struct chunk head;
	pthread_mutex_t reading, writing;
	struct sockaddr_un address;
};

#define MAX_FD 4096
static struct dev *devs[MAX_FD];

static struct dev *dev_of(int fd)
{
	return fd >= 0 && fd < MAX_FD ? __atomic_load_n(&devs[fd], __ATOMIC_ACQUIRE) : NULL;
}

/* What kind of device a path names; 0 for none. */
static int device_op(const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL;
	struct stat st;
	int op = 0;

	if (!name || !strstr(path, "dev"))
		return 0;
	if (!strncmp(name, "/umad", 5))
		op = OP_OPEN_UMAD;
	else if (!strncmp(name, "/issm", 5))
		op = OP_OPEN_ISSM;
	return op && !stat(path, &st) && S_ISSOCK(st.st_mode) ? op : 0;
}

static int open_device(const char *path, int op, int flags)
{
	struct request req = { .op = op };
	struct dev *d = calloc(1, sizeof(*d));
	int fd;

	if (!d) {
		errno = ENOMEM;
		return -1;
	}
	d->address.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(d->address.sun_path)) {
		free(d);
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(d->address.sun_path, path);
	fd = ask(&d->address, &req, &d->token);
	if (fd >= MAX_FD) {
		real_close(fd);
		errno = EMFILE;
		fd = -1;
	}
	if (fd < 0) {
		free(d);
		return -1;
	}
	if (flags & O_NONBLOCK)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	if (!(flags & O_CLOEXEC))
		fcntl(fd, F_SETFD, 0);
	pthread_mutex_init(&d->reading, NULL);
	pthread_mutex_init(&d->writing, NULL);
	if (op == OP_OPEN_UMAD)
		__atomic_store_n(&devs[fd], d, __ATOMIC_RELEASE);
	else
		free(d); /* closing an issm is all one can do with it */
	return fd;
}

static ssize_t read_mad(int fd, struct dev *d, char *buf, size_t count)
{
	ssize_t hdr = d->pkey ? HDR_NEW : HDR_OLD, ret = -1;
	struct chunk *c = &d->head;
	size_t first;

	pthread_mutex_lock(&d->reading);
	if (!d->stashed && recv_all(fd, c, sizeof(*c), !(fcntl(fd, F_GETFL) & O_NONBLOCK)) < 0)
		goto out;
	d->stashed = 1;
	first = c->length < MAD_SIZE ? c->length : MAD_SIZE;
	if (count < hdr + first) {
		errno = EINVAL;
		goto out;
	}
	c->hdr.length = hdr + c->length;
	memcpy(buf, &c->hdr, hdr);
	memcpy(buf + hdr, c->mad, first);
	if (count < (size_t)hdr + c->length) {
		/* The caller learns the length and comes back with room. */
		errno = ENOSPC;
		goto out;
	}
	if (c->length > MAD_SIZE && recv_all(fd, buf + hdr + MAD_SIZE, c->length - MAD_SIZE, 1) < 0)
		goto out;
	d->stashed = 0;
	ret = hdr + c->length;
out:
	pthread_mutex_unlock(&d->reading);
	return ret;
}

static ssize_t write_mad(int fd, struct dev *d, const char *buf, size_t count)
{
	ssize_t hdr = d->pkey ? HDR_NEW : HDR_OLD;
	size_t length = count - hdr;
	struct chunk c = { .length = length };
	int bad;

	if (count < (size_t)hdr + 24) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&c.hdr, buf, hdr);
	memcpy(c.mad, buf + hdr, length < MAD_SIZE ? length : MAD_SIZE);
	if (c.hdr.id >= 32 || !(d->agents >> c.hdr.id & 1)) {
		errno = EINVAL;
		return -1;
	}
	pthread_mutex_lock(&d->writing);
	bad = send_all(fd, &c, sizeof(c)) < 0 ||
	      (length > MAD_SIZE && send_all(fd, buf + hdr + MAD_SIZE, length - MAD_SIZE) < 0);
	pthread_mutex_unlock(&d->writing);
	if (bad) {
		errno = EIO;
		return -1;
	}
	return count;
}

/* One exchange on a connection of its own: the descriptor's is for MADs. */
static int change_agent(struct dev *d, struct request *req, uint32_t *id)
{
	uint64_t value;
	int fd;

	req->token = d->token;
	fd = ask(&d->address, req, &value);
	if (fd < 0)
		return -1;
	real_close(fd);
	if (req->op == OP_REGISTER) {
		*id = value;
		d->agents |= 1u << value;
	}
	return 0;
}

static int ioctl_mad(struct dev *d, unsigned long what, void *arg)
{
	struct request req = { .op = OP_REGISTER };

	if (what == IB_USER_MAD_REGISTER_AGENT) {
		struct ib_user_mad_reg_req *r = arg;

		memcpy(req.method_mask, r->method_mask, sizeof(req.method_mask));
		req.oui = r->oui[0] << 16 | r->oui[1] << 8 | r->oui[2];
		req.qpn = r->qpn;
		req.mgmt_class = r->mgmt_class;
		req.mgmt_class_version = r->mgmt_class_version;
		req.rmpp_version = r->rmpp_version;
		return change_agent(d, &req, &r->id);
	}
	if (what == IB_USER_MAD_REGISTER_AGENT2) {
		struct ib_user_mad_reg_req2 *r = arg;

		memcpy(req.method_mask, r->method_mask, sizeof(req.method_mask));
		req.flags = r->flags;
		req.oui = r->oui;
		req.qpn = r->qpn;
		req.mgmt_class = r->mgmt_class;
		req.mgmt_class_version = r->mgmt_class_version;
		req.rmpp_version = r->rmpp_version;
		return change_agent(d, &req, &r->id);
	}
	if (what == IB_USER_MAD_UNREGISTER_AGENT) {
		req.op = OP_UNREGISTER;
		req.id = *(uint32_t *)arg;
		if (req.id >= 32 || !(d->agents >> req.id & 1)) {
			errno = EINVAL;
			return -1;
		}
		d->agents &= ~(1u << req.id);
		return change_agent(d, &req, NULL);
	}
	if (what == IB_USER_MAD_ENABLE_PKEY) {
		d->pkey = 1;
		return 0;
	}
	errno = ENOTTY;
	return -1;
}

#define OPEN(name)                                                    \
	int name(const char *path, int flags, ...)                             \
	{                                                                      \
		char buf[PATH_ROOM];                                           \
		mode_t mode = 0;                                               \
		int op;                                                        \
		va_list ap;                                                    \
		REAL(name);                                                    \
		va_start(ap, flags);                                           \
		if (flags & (O_CREAT | __O_TMPFILE))                           \
			mode = va_arg(ap, int);                                \
		va_end(ap);                                                    \
		path = moved(path, buf, sizeof(buf));                          \
		op = device_op(path);                                          \
		return op ? open_device(path, op, flags) : real(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                           \
	int name(int dir, const char *path, int flags, ...)                    \
	{                                                                      \
		char buf[PATH_ROOM];                                           \
		mode_t mode = 0;                                               \
		int op;                                                        \
		va_list ap;                                                    \
		REAL(name);                                                    \
		va_start(ap, flags);                                           \
		if (flags & (O_CREAT | __O_TMPFILE))                           \
			mode = va_arg(ap, int);                                \
		va_end(ap);                                                    \
		path = moved(path, buf, sizeof(buf));                          \
		op = device_op(path);                                          \
		return op ? open_device(path, op, flags) : real(dir, path, flags, mode); \
	}
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int fd, void *buf, size_t count)
{
	struct dev *d = dev_of(fd);
	REAL(read);

	return d ? read_mad(fd, d, buf, count) : real(fd, buf, count);
}

ssize_t write(int fd, const void *buf, size_t count)
{
	struct dev *d = dev_of(fd);
	REAL(write);

	return d ? write_mad(fd, d, buf, count) : real(fd, buf, count);
}

int ioctl(int fd, unsigned long what, ...)
{
	struct dev *d = dev_of(fd);
	void *arg;
	va_list ap;
	REAL(ioctl);

	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	return d ? ioctl_mad(d, what, arg) : real(fd, what, arg);
}

int close(int fd)
{
	struct dev *d = dev_of(fd);

	if (d) {
		__atomic_store_n(&devs[fd], NULL, __ATOMIC_RELEASE);
		/* Not freed: another thread may still be reading. */
	}
	return real_close(fd);
}
