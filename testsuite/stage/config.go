package stage

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeConfig writes the site's configuration: everybody may look, operators
// may do everything, the approvers' group approves.
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
      who: [team, %[6]s]
    - operations: [help, hosts, "runs list", "runs show", approve, deny]
      classes: [control]
      who: [team, %[6]s]
    - operations: ["*"]
      classes: [control, changes, dangerous]
      who: [%[7]s, %[8]s, %[6]s]
  approvers:
    - operations: ["*"]
      who: [%[9]s]
  people:
    - slack: %[7]s
      local: [%[6]s]
`, s.Slack.APIURL(), Channel, Elsewhere, Shared, s.o.UIPort, fmt.Sprintf(`"local:%d@%s"`, os.Getuid(), host), UserA, UserB, Approvers)
	return os.WriteFile(filepath.Join(s.Dir, "fabricbot.yaml"), []byte(text), 0o600)
}
