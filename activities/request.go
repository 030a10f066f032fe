package activities

import "time"

// Person is who acts, by immutable id: "TEAM:USER" for Slack,
// "local:UID@HOST" for a terminal. Name is for display only and never decides.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// Place is where a run speaks. An empty channel means it does not.
type Place struct {
	Team    string `json:"team,omitempty"`
	Channel string `json:"channel,omitempty"`
}

// Request starts a run.
type Request struct {
	// Run is the run's id, also its workflow id; it derives from the request
	// that caused it, so a redelivered request is the same run.
	Run string `json:"run"`
	// Op is the operation's name.
	Op string `json:"op"`
	// Input is the operation's typed input.
	Input Data `json:"input"`
	// Words is what was typed, for people to read.
	Words string `json:"words"`
	By    Person `json:"by"`
	Place Place  `json:"place"`
	// At is when the person asked.
	At time.Time `json:"at"`
	// Same is equal for two requests that mean the same command: a second one
	// while the first runs joins it instead of running beside it.
	Same string `json:"same"`
}
