package fabricsim

import "time"

// flapping is a link that goes down and up by itself.
type flapping struct {
	timer *time.Timer
}
