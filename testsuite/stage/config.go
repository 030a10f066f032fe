package stage

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeConfig writes the site's configuration: operators may do everything,
// the approvers' group approves, viewers look.
func (s *Stage) writeConfig() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`cluster: {name: lab}
slack:
  team_id: T07FABRIC
  api_url: %s
  channels: {%s: fabric-ops, %s: random, %s: partner-shared}
temporal:
  embedded: {data_dir: data/temporal, ui_port: %d}
ssh:
  keys: [lab/ssh/id_ed25519]
  known_hosts: [lab/ssh/known_hosts]
inventory: lab/inventory.yaml
data_dir: data
access:
  rules:
    - operations: ["*"]
      classes: [control, read-only]
      who: [team, "local:%d@%s"]
    - operations: ["sm *"]
      classes: [changes, dangerous]
      who: [%s, %s, "local:%d@%s"]
  approvers:
    - operations: ["*"]
      who: [%s]
  people:
    - slack: %s
      local: ["local:%d@%s"]
`, s.Slack.APIURL(), Channel, Elsewhere, Shared, s.o.UIPort, os.Getuid(), host, UserA, UserB, os.Getuid(), host, Approvers, UserA, os.Getuid(), host)
	return os.WriteFile(filepath.Join(s.Dir, "fabricbot.yaml"), []byte(text), 0o600)
}
