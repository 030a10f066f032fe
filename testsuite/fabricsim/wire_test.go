package fabricsim

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// wireRequest is a request as the preloaded library writes it.
func wireRequest(op uint32, token uint64, class, qpn uint8) []byte {
	b := make([]byte, requestBytes)
	n := binary.NativeEndian
	n.PutUint32(b, wireMagic)
	n.PutUint32(b[4:], op)
	n.PutUint64(b[8:], token)
	b[44], b[45], b[46] = qpn, class, 1
	return b
}

// dial opens a device file without the library.
func dial(t *testing.T, p *Plug, first []byte) (*net.UnixConn, int32, uint64) {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(p.dir, "dev/umad0"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Write(first); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, replyBytes)
	if _, err := io.ReadFull(c, reply); err != nil {
		return c, -1, 0
	}
	return c, int32(binary.NativeEndian.Uint32(reply[4:])), binary.NativeEndian.Uint64(reply[8:])
}

// TestRudeClients speaks to the device file what no library would: the fabric
// drops the connection or the datagram and serves the next one.
func TestRudeClients(t *testing.T) {
	f := tiny(t)
	p, err := f.Plug(t.TempDir(), Adapter{Node: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, errno, _ := dial(t, p, bytes.Repeat([]byte{7}, requestBytes)); errno != -1 {
		t.Errorf("garbage was answered with %d", errno)
	}
	if _, errno, _ := dial(t, p, wireRequest(opRegister, 999, mad.ClassPerf, 1)); errno == 0 {
		t.Error("an agent for a client that does not exist")
	}
	c, errno, token := dial(t, p, wireRequest(opOpenUMAD, 0, 0, 0))
	if errno != 0 {
		t.Fatalf("opening: errno %d", errno)
	}
	for class, qpn := range map[uint8]uint8{mad.ClassPerf: 0, mad.ClassSubnDirect: 1, mad.ClassSubnAdm: 7} {
		if _, errno, _ := dial(t, p, wireRequest(opRegister, token, class, qpn)); errno == 0 {
			t.Errorf("class %#x was registered on queue pair %d", class, qpn)
		}
	}
	_, errno, id := dial(t, p, wireRequest(opRegister, token, mad.ClassSubnDirect, 0))
	if errno != 0 {
		t.Fatalf("registering: errno %d", errno)
	}
	m := get(mad.AttrNodeDescription, 0)
	m.SetDrLIDs(mad.LIDPermissive, mad.LIDPermissive)
	u := userMAD{id: 31, timeoutMS: 100, mad: m, length: mad.Bytes, lid: mad.LIDPermissive}
	c.Write(u.frame()) // an agent that is not registered
	u.id = uint32(id)
	c.Write(u.frame())
	head := make([]byte, frameHead)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	var d mad.NodeDescription
	d.Decode(mad.MAD(head[frameHeader+umadHeader:]).SMPData())
	if d.Text != "a" {
		t.Errorf("node description %q", d.Text)
	}
	long := u.frame()
	binary.NativeEndian.PutUint32(long, maxMessage+1)
	c.Write(long)
	if _, err := io.ReadFull(c, head); err == nil {
		t.Error("a frame longer than any message was taken")
	}
	eventually(t, 5*time.Second, "the rude client is forgotten", func() bool { return clientsOf(f) == 0 })
	if c, errno, _ := dial(t, p, wireRequest(opOpenUMAD, 0, 0, 0)); errno != 0 {
		t.Errorf("the next one: errno %d", errno)
	} else {
		c.Close()
	}
}

func TestUserHeaderRoundTrip(t *testing.T) {
	u := userMAD{id: 3, status: 110, timeoutMS: 1000, retries: 2, qpn: 1, qkey: 0x80010000, lid: 0x1234, sl: 5, pathBits: 1, pkeyIndex: 7,
		mad: mad.New(mad.ClassPerf, mad.MethodGet, mad.AttrPortCounters, 0), length: mad.Bytes}
	b := u.frame()
	got := parseUser(b[frameHeader:])
	got.mad, got.length = u.mad, u.length
	if got.id != u.id || got.status != u.status || got.timeoutMS != u.timeoutMS || got.retries != u.retries || got.qpn != u.qpn || got.qkey != u.qkey || got.lid != u.lid ||
		got.sl != u.sl || got.pathBits != u.pathBits || got.pkeyIndex != u.pkeyIndex {
		t.Errorf("wrote %+v, read %+v", u, got)
	}
}
