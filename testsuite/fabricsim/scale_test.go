package fabricsim

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/fabric/fabrictest"
)

// BenchmarkFirstSweep measures how long opensm takes from its start until all
// ports are Active, and what it and the fabric weigh then.
func BenchmarkFirstSweep(b *testing.B) {
	for _, hosts := range []int{16, 324, 1000, 5000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			needTools(b, "opensm")
			for range b.N {
				b.StopTimer()
				f := newTestFabric(b, fabrictest.FatTree(hosts))
				h := plugHost(b, f, "node00001")
				var before runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				b.StartTimer()
				sm := h.opensm()
				allActive(b, f, 2*time.Minute)
				b.StopTimer()
				b.ReportMetric(float64(before.HeapAlloc)/1e6, "fabric-MB")
				b.ReportMetric(rssMB(b, sm.Process.Pid), "opensm-MB")
				b.ReportMetric(rssMB(b, os.Getpid()), "process-MB")
				sm.Process.Kill()
				sm.Wait()
				f.Close()
			}
		})
	}
}

func rssMB(t testing.TB, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			return kb / 1000
		}
	}
	return 0
}
