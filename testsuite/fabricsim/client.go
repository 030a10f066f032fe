package fabricsim

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxAgents is what the kernel allows per open file (IB_UMAD_MAX_AGENTS).
const maxAgents = 32

// queueBytes bounds what waits for a client that does not read. What comes
// beyond is dropped, as the kernel drops past its own limit.
const queueBytes = 32 << 20

// client is an open umadN or issmN of some program.
type client struct {
	device *device
	conn   *net.UnixConn
	token  uint64
	agents [maxAgents]*agent // under the fabric's lock

	mu     sync.Mutex
	queue  [][]byte
	queued int
	gone   bool
}

// push sends a frame without ever waiting: at once if the socket has room and
// nothing waits before it, else from the queue.
func (c *client) push(frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	if len(c.queue) == 0 {
		n := c.tryWrite(frame)
		if n == len(frame) {
			return
		}
		frame = frame[n:]
		c.queue, c.queued = append(c.queue, frame), len(frame)
		go c.drain()
		return
	}
	if c.queued+len(frame) <= queueBytes {
		c.queue, c.queued = append(c.queue, frame), c.queued+len(frame)
	}
}

// tryWrite writes what fits into the socket now.
func (c *client) tryWrite(b []byte) (n int) {
	raw, err := c.conn.SyscallConn()
	if err != nil {
		return 0
	}
	raw.Write(func(fd uintptr) bool {
		n, _ = unix.SendmsgN(int(fd), b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		n = max(n, 0)
		return true
	})
	return n
}

// drain writes the queue and ends when it is empty or the client has gone.
func (c *client) drain() {
	for {
		c.mu.Lock()
		if len(c.queue) == 0 || c.gone {
			c.queue, c.queued = nil, 0
			c.mu.Unlock()
			return
		}
		frame := c.queue[0]
		c.mu.Unlock()
		_, err := c.conn.Write(frame)
		c.mu.Lock()
		if err != nil {
			c.gone = true
		} else {
			c.queue, c.queued = c.queue[1:], c.queued-len(frame)
		}
		c.mu.Unlock()
	}
}

// serve runs one connection from its request to its end.
func (d *device) serve(conn *net.UnixConn) {
	defer conn.Close()
	buf := make([]byte, requestBytes)
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadFull(conn, buf); err != nil {
		return
	}
	conn.SetReadDeadline(time.Time{})
	r, ok := parseRequest(buf)
	if !ok {
		return
	}
	switch r.op {
	case opOpenUMAD, opOpenISSM:
		d.serveOpen(conn, r)
	case opRegister, opUnregister:
		value, errno := d.plug.changeAgent(d, r)
		conn.Write(newReply(int(errno), value))
	}
}

func (d *device) serveOpen(conn *net.UnixConn, r request) {
	c := &client{device: d, conn: conn}
	f := d.plug.fabric
	if r.op == opOpenISSM {
		if errno := d.plug.patiently(func() syscall.Errno { return d.hold(c) }); errno != 0 {
			conn.Write(newReply(int(errno), 0))
			return
		}
	} else {
		f.locked(func() { c.token = d.plug.admit(c) })
	}
	defer f.locked(func() {
		d.plug.dismiss(c)
		d.forget(c)
	})
	if _, err := conn.Write(newReply(0, c.token)); err != nil {
		return
	}
	c.receive()
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
}

// receive reads frames until the client closes or dies.
func (c *client) receive() {
	r := bufio.NewReaderSize(c.conn, 16<<10)
	head := make([]byte, frameHead)
	f := c.device.plug.fabric
	for {
		if _, err := io.ReadFull(r, head); err != nil {
			return
		}
		length := int(binary.NativeEndian.Uint32(head))
		if length > maxMessage {
			return
		}
		u := parseUser(head[frameHeader:])
		u.length = length
		u.mad = make([]byte, max(length, frameHead-frameHeader-umadHeader))
		copy(u.mad, head[frameHeader+umadHeader:])
		if length > frameHead-frameHeader-umadHeader {
			if _, err := io.ReadFull(r, u.mad[frameHead-frameHeader-umadHeader:]); err != nil {
				return
			}
		}
		f.lock()
		if u.id < maxAgents && c.agents[u.id] != nil {
			c.agents[u.id].send(u)
		}
		f.unlock()
	}
}
