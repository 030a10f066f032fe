package workside

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fabricbot/fabricbot/hostexec/sshexec"
	"github.com/fabricbot/fabricbot/internal/config"
	"github.com/fabricbot/fabricbot/internal/inventory"
)

func TestWays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(file, []byte("Host node001\n  HostName 10.0.0.1\n  Port 2201\n  User admin\nHost *\n  ProxyJump gate.example.net\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hop := sshexec.Endpoint{Address: "bastion.example.net", Port: 2222, User: "hop"}
	gate := sshexec.Endpoint{Address: "gate.example.net"}
	tests := []struct {
		name  string
		known inventory.Endpoint
		cfg   config.SSH
		want  sshexec.Endpoint
	}{
		{"inventory_alone", inventory.Endpoint{Address: "node001", Port: 22, User: "root"}, config.SSH{},
			sshexec.Endpoint{Address: "node001", Port: 22, User: "root"}},
		{"site_hops_come_first", inventory.Endpoint{Address: "10.1.1.1", Port: 22, Jump: []inventory.Endpoint{{Address: "rack7", Port: 22}}}, config.SSH{Jump: []string{"hop@bastion.example.net:2222"}},
			sshexec.Endpoint{Address: "10.1.1.1", Port: 22, Jump: []sshexec.Endpoint{hop, {Address: "rack7", Port: 22}}}},
		{"not_through_itself", inventory.Endpoint{Address: "bastion.example.net", Port: 22}, config.SSH{Jump: []string{"hop@bastion.example.net:2222"}},
			sshexec.Endpoint{Address: "bastion.example.net", Port: 22}},
		{"file_fills_what_is_open", inventory.Endpoint{Address: "node001", Port: 22}, config.SSH{SSHConfig: file},
			sshexec.Endpoint{Address: "10.0.0.1", Port: 2201, User: "admin", Jump: []sshexec.Endpoint{gate}}},
		{"inventory_wins_over_file", inventory.Endpoint{Address: "192.0.2.7", Port: 2022, User: "root"}, config.SSH{SSHConfig: file},
			sshexec.Endpoint{Address: "192.0.2.7", Port: 2022, User: "root", Jump: []sshexec.Endpoint{gate}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := newWays(func(string) (inventory.Endpoint, error) { return tt.known, nil }, tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			got, err := w.to("node001")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("way (-want +got):\n%s", diff)
			}
		})
	}
}
