package activities

import "time"

// State is where a run stands.
type State string

// The states of a run. Those after Paused are final.
const (
	Requested State = "requested"
	Planning  State = "planning"
	Waiting   State = "waiting for approval"
	Queued    State = "queued"
	Running   State = "running"
	Paused    State = "paused"
	Done      State = "done"
	Partly    State = "partly failed"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Denied    State = "denied"
	Expired   State = "expired"
	Duplicate State = "duplicate"
	// Ended is only listed, never reached: how the run ended could not be read.
	Ended State = "ended"
)

// Final reports whether a run in this state has ended.
func (s State) Final() bool {
	switch s {
	case Done, Partly, Failed, Cancelled, Denied, Expired, Duplicate:
		return true
	}
	return false
}

// View is everything people may see of a run: one snapshot, from which the
// channel message, the terminal and `runs show` are drawn.
type View struct {
	Run     string    `json:"run"`
	Op      string    `json:"op"`
	Class   string    `json:"class"`
	Words   string    `json:"words"`
	Cluster string    `json:"cluster"`
	By      Person    `json:"by"`
	Place   Place     `json:"place"`
	State   State     `json:"state"`
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"`
	Ended   time.Time `json:"ended,omitzero"`
	// Note is one line: what happens now, or why the run stopped.
	Note     string     `json:"note,omitempty"`
	Progress *Progress  `json:"progress,omitempty"`
	Steps    []Step     `json:"steps,omitempty"`
	Plan     *Plan      `json:"plan,omitempty"`
	Gate     *Gate      `json:"gate,omitempty"`
	Decided  []Decision `json:"decided,omitempty"`
	// Result is the operation's typed result, once there is one.
	Result Data `json:"result,omitempty"`
	// Error is the sentence a failed run ends with.
	Error string `json:"error,omitempty"`
	// Of is the run that this one duplicates.
	Of    string `json:"of,omitempty"`
	Files []File `json:"files,omitempty"`
	// Seq grows with every change of the view; a lower one never overwrites a
	// higher one.
	Seq int `json:"seq"`
}

// Progress counts units of work.
type Progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Unit  string `json:"unit"`
}

// StepState is how a step stands.
type StepState string

// The states of a step.
const (
	StepRunning StepState = "running"
	StepOK      StepState = "ok"
	StepFailed  StepState = "failed"
	StepSkipped StepState = "skipped"
)

// Step is one thing the run did, in the words of the field.
type Step struct {
	Key   string    `json:"key"`
	Text  string    `json:"text"`
	Host  string    `json:"host,omitempty"`
	State StepState `json:"state"`
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended,omitzero"`
	// Detail is what the step found, one or two lines.
	Detail string `json:"detail,omitempty"`
}

// Gate is an open request for approval.
type Gate struct {
	// ID changes with every new request, so a click on an old button is told
	// apart.
	ID      string    `json:"id"`
	Hash    string    `json:"hash"`
	Need    int       `json:"need"`
	Expires time.Time `json:"expires"`
	Policy  Policy    `json:"policy"`
}

// TeamGroup is the group that every user of the site's own team is in.
const TeamGroup = "team"

// Policy is who may approve, from the site's configuration.
type Policy struct {
	// Users are person ids; Groups are group ids whose members may approve.
	Users  []string `json:"users,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Count is how many different people the site asks for.
	Count int `json:"count,omitempty"`
}

// Decision is one approver's word on one plan.
type Decision struct {
	By Person `json:"by"`
	// Via is the group that gave the right, empty when the person is named.
	Via    string    `json:"via,omitempty"`
	Gate   string    `json:"gate"`
	Hash   string    `json:"hash"`
	Yes    bool      `json:"yes"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// File is a picture or text stored in the archive and shown in the thread.
type File struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Alt says what the file shows, for readers who cannot see it.
	Alt string `json:"alt,omitempty"`
	// Blob is the SHA-256 of the content in the archive.
	Blob  string `json:"blob"`
	Bytes int64  `json:"bytes"`
}

// Outcome is what a run's workflow returns.
type Outcome struct {
	State  State  `json:"state"`
	Result Data   `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
	// Of is the run that this one duplicates.
	Of string `json:"of,omitempty"`
}
