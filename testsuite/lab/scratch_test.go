package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestScratch(t *testing.T) {
	dir := "/tmp/labscratch"
	os.RemoveAll(dir)
	os.MkdirAll(dir, 0o755)
	topo, _ := FatTree(16)
	th, err := newThread("/mnt", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer th.end()
	f := newIbsim(topo, "scratch"+strconv.Itoa(os.Getpid()), dir, th.start, t.Logf)
	if err := f.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer f.Stop()
	tool := func(host string, argv ...string) string {
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = dir
		c.Env = append(os.Environ(), f.ToolEnv(host, false)...)
		b, err := c.CombinedOutput()
		if err != nil {
			return string(b) + err.Error()
		}
		return string(b)
	}
	sms := map[string]*exec.Cmd{}
	sm := func(host string, prio int) {
		d := filepath.Join(dir, host)
		os.MkdirAll(d, 0o755)
		n, _ := topo.node(host)
		conf := fmt.Sprintf("guid 0x%016x\nsm_priority %d\nsminfo_polling_timeout 1000\npolling_retry_number 2\nlog_file %s/opensm.log\n", n.GUID+1, prio, d)
		os.WriteFile(d+"/opensm.conf", []byte(conf), 0o644)
		c := exec.Command("opensm", "-F", d+"/opensm.conf")
		c.Dir = d
		c.Env = append(os.Environ(), f.ToolEnv(host, true)...)
		c.Env = append(c.Env, "OSM_CACHE_DIR="+d, "OSM_TMP_DIR="+d)
		o, _ := os.Create(d + "/out")
		c.Stdout, c.Stderr = o, o
		if err := th.start(c); err != nil {
			t.Fatal(err)
		}
		sms[host] = c
	}
	sm("node001", 14)
	sm("node009", 13)
	wait := func(host, want string, from string) time.Duration {
		n, _ := topo.node(host)
		_ = n
		t0 := time.Now()
		var out string
		for time.Since(t0) < 30*time.Second {
			out = tool(from, "sminfo")
			if strings.Contains(out, fmt.Sprintf("sm guid 0x%x", n.GUID+1)) && strings.Contains(out, want) {
				return time.Since(t0)
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("%s not %s: %s", host, want, out)
		return 0
	}
	t.Log(wait("node001", "SMINFO_MASTER", "node004"))
	time.Sleep(time.Second)
	t.Log(tool("node003", "ibstat"))
	_ = 1
	p, err := f.Ports()
	t.Logf("%+v %v", p[len(p)-3:], err)
	rounds, _ := strconv.Atoi(os.Getenv("ROUNDS"))
	for i := range rounds {
		sms["node001"].Process.Kill()
		sms["node001"].Wait()
		a := wait("node009", "SMINFO_MASTER", "node004")
		time.Sleep(500 * time.Millisecond)
		sm("node001", 14)
		b := wait("node001", "SMINFO_MASTER", "node004")
		t.Log(i, a, b)
	}
	for _, c := range sms {
		c.Process.Kill()
		c.Wait()
	}
}
