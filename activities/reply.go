package activities

// Reply answers a control word such as "runs list". It is data: whoever shows
// it escapes it for the place where it is shown.
type Reply struct {
	// Text holds plain lines.
	Text []string `json:"text,omitempty"`
	// View is the one run that the answer is about, shown whole.
	View *View `json:"view,omitempty"`
	// Views are runs of a list, shown one a line.
	Views []View `json:"views,omitempty"`
}
