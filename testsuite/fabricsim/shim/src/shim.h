/* What the two halves of the library share. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Makes real the function of that name that this library hides. */
#define REAL(name)                                                             \
	static __typeof__(&name) real;                                         \
	if (!real)                                                             \
	real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Room for a path that was moved. */
#define PATH_ROOM 4096

/* Where a path is in a host that is only a directory; path itself if there is
 * no such directory or the path is not InfiniBand's. buf has size bytes. */
HIDDEN const char *moved(const char *path, char *buf, size_t size);

/* The simulator's protocol, in testsuite/fabricsim/wire.go. All numbers in host order. */
#define MAGIC 0x31534246u /* "FBS1" */
enum { OP_OPEN_UMAD = 1, OP_OPEN_ISSM, OP_REGISTER, OP_UNREGISTER };

struct request {
	uint32_t magic, op;
	uint64_t token;
	uint32_t id, flags;
	uint32_t method_mask[4];
	uint32_t oui;
	uint8_t qpn, mgmt_class, mgmt_class_version, rmpp_version;
	uint8_t pad[8];
};

struct reply {
	uint32_t magic;
	int32_t error; /* errno */
	uint64_t value;
};

/* Sends all n bytes, waiting as long as it takes; -1 and errno if it cannot. */
HIDDEN int send_all(int fd, const void *data, size_t n);

/* Reads n bytes. Before the first byte it waits only if wait is set. */
HIDDEN int recv_all(int fd, void *data, size_t n, int wait);

/* Connects to the socket behind a device file and asks for what req says. The
 * connection, or -1 and errno. value may be NULL. */
HIDDEN int ask(const struct sockaddr_un *sa, struct request *req, uint64_t *value);

/* The close that this library hides. */
HIDDEN int real_close(int fd);
