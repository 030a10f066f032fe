package embedded

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestFences keeps the server apart from what runs on it, so that it can be
// exchanged for a cluster: the package must not even link these.
func TestFences(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "go.temporal.io/server/temporal") {
		t.Fatal("the server is not among the packages: this test would hold whatever is imported")
	}
	const own = "github.com/fabricbot/fabricbot/"
	for _, dep := range deps {
		room, ours := strings.CutPrefix(dep, own)
		switch {
		case ours && room != "embedded" && room != "internal/engine":
			t.Errorf("the embedded server contains %s: it may know internal/engine only, or it could not be exchanged for a cluster", room)
		case strings.HasPrefix(dep, "github.com/slack-go/") || strings.HasPrefix(dep, "golang.org/x/crypto/ssh"):
			t.Errorf("the embedded server contains %s: it holds neither of the two secrets", dep)
		}
	}
}
