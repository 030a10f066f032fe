package activities

// Severity orders findings.
type Severity string

// The severities. Unknown is never folded into a pass.
const (
	Info    Severity = "info"
	Warn    Severity = "warn"
	Fail    Severity = "fail"
	Unknown Severity = "unknown"
)

// Finding is one thing a person should know, with what to do next.
type Finding struct {
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
	// Action is the next step, in words or as a command of the catalog.
	Action string `json:"action,omitempty"`
}
