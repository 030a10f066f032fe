package bot

import (
	"errors"
	"regexp"
	"strings"
)

// pressed is what a button carries: opaque ids, never parameters. What the
// ids mean is looked up when the button is pressed.
type pressed struct {
	Run, Gate string
	// Hash is the plan's hash, of which the button carries the beginning.
	Hash string
}

// hashLength is how much of the hash a button carries: enough to tell two
// plans of one run apart, too little to stand for the plan.
const hashLength = 12

var pressedPart = regexp.MustCompile(`^[A-Za-z0-9._:/@-]{0,255}$`)

func (p pressed) value() string {
	hash := p.Hash
	if len(hash) > hashLength {
		hash = hash[:hashLength]
	}
	return strings.Join([]string{p.Run, p.Gate, hash}, "|")
}

func parsePressed(value string) (pressed, error) {
	parts := strings.Split(value, "|")
	if len(parts) != 3 || parts[0] == "" {
		return pressed{}, errors.New("a button's value is not one of ours")
	}
	for _, p := range parts {
		if !pressedPart.MatchString(p) {
			return pressed{}, errors.New("a button's value is not one of ours")
		}
	}
	return pressed{Run: parts[0], Gate: parts[1], Hash: parts[2]}, nil
}
