package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// fixtures returns the texts of a tool's folder by path.
func fixtures(tb testing.TB, name string) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", strings.ReplaceAll(name, " ", "_"), "*.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		texts[p] = b
	}
	return texts
}

func TestGoldens(t *testing.T) {
	used := 0
	for _, name := range Tools() {
		p, _ := Tool(name)
		for path, text := range fixtures(t, name) {
			used++
			t.Run(strings.TrimSuffix(strings.TrimPrefix(path, "testdata/"), ".txt"), func(t *testing.T) {
				v, err := p(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				got, err := json.MarshalIndent(v, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, '\n')
				golden := strings.TrimSuffix(path, ".txt") + ".golden.json"
				if *update {
					if err := os.WriteFile(golden, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatalf("%v; run go test ./fabric/parse -update and read the new golden", err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("differs from %s (go test ./fabric/parse -update rewrites it):\n%s", golden, got)
				}
			})
		}
	}
	all, _ := filepath.Glob("testdata/*/*.txt")
	if used != len(all) {
		t.Errorf("%d of %d fixtures belong to no tool; is a folder misnamed?", len(all)-used, len(all))
	}
}

// Every parser must refuse a text that is none of its tool's; dmesg is the
// exception, since any line can be a kernel's.
func TestNotUnderstood(t *testing.T) {
	for _, name := range Tools() {
		if name == "dmesg" {
			continue
		}
		p, _ := Tool(name)
		for _, text := range []string{"Lorem ipsum dolor sit amet,\nconsectetur adipiscing elit.\n", "<html><body>502 Bad Gateway</body></html>\n"} {
			if _, err := p(strings.NewReader(text)); !errors.Is(err, ErrNotUnderstood) {
				t.Errorf("%s: got %v for %q, want ErrNotUnderstood", name, err, text)
			}
		}
	}
}

func TestReadErrorsArePassedOn(t *testing.T) {
	for _, name := range Tools() {
		p, _ := Tool(name)
		if _, err := p(failing{}); !errors.Is(err, errDisk) {
			t.Errorf("%s: got %v, want the reader's error", name, err)
		}
	}
}

var errDisk = errors.New("disk on fire")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errDisk }

// A tool that is missing on a host is a failure that the tool's own report
// carries, not a text that nobody understands.
func TestMissingToolIsReported(t *testing.T) {
	for _, name := range []string{"ibstat", "ibnetdiscover", "sminfo", "saquery", "lspci", "ofed_info", "ibv_devinfo",
		"flint", "ib_write_bw", "mlxconfig", "mlxfwmanager", "mlxfwreset", "mlxlink", "mst", "mlxcables", "mget_temp", "mlnxofedinstall",
		"dkms", "ethtool -i", "modinfo", "ibdiagnet", "nvidia-smi topo -m", "qperf", "rping", "openibd"} {
		p, _ := Tool(name)
		v, err := p(strings.NewReader("bash: " + name + ": command not found\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b, _ := json.Marshal(v)
		if !bytes.Contains(b, []byte(`"error":"command not found"`)) {
			t.Errorf("%s: no error in %s", name, b)
		}
	}
}
