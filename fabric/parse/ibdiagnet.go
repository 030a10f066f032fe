package parse

import (
	"io"
	"regexp"
	"strings"
)

// IBDiagnetReport is what ibdiagnet 1 and 2 print on the screen, or the
// subnet manager file of ibdiagnet 2.
type IBDiagnetReport struct {
	Trouble
	Version string `json:"version,omitempty"`
	// Nodes, Switches and CAs are those of the discovery, TotalNodes that of
	// the fabric summary with what only ibdiagnet 2 counts. Nil is not said.
	Nodes            *int `json:"nodes,omitempty"`
	Switches         *int `json:"switches,omitempty"`
	CAs              *int `json:"cas,omitempty"`
	TotalNodes       *int `json:"total_nodes,omitempty"`
	AggregationNodes *int `json:"aggregation_nodes,omitempty"`
	Routers          *int `json:"routers,omitempty"`
	ANv1             *int `json:"an_v1,omitempty"`
	ANv2             *int `json:"an_v2,omitempty"`
	LLTrees          *int `json:"ll_trees,omitempty"`
	StreamingTrees   *int `json:"streaming_trees,omitempty"`
	UniqueJobIDs     *int `json:"unique_job_ids,omitempty"`
	// Stages is the table at the end. ErrorsTotal and WarningsTotal are its
	// sums, or without it the numbers of -E- and -W- lines.
	Stages          map[string]StageCount `json:"stages,omitempty"`
	ErrorsTotal     int                   `json:"errors_total"`
	WarningsTotal   int                   `json:"warnings_total"`
	WarningsInTable *int                  `json:"warnings_total_in_table,omitempty"`
	ErrorLines      int                   `json:"error_lines"`
	WarningLines    int                   `json:"warning_lines"`
	// Clean needs the table, nodes and no error or warning in it.
	Clean      bool             `json:"clean"`
	Partitions []PartitionCount `json:"partitions,omitempty"`
	SMs        []DiagnosedSM    `json:"sms,omitempty"`
	RunTime    *int             `json:"run_time_s,omitempty"`
	order      int              // 1: errors stand before warnings, 2: behind
	role       string
}

// StageCount is one stage's row. Skipped is a stage that was not run.
type StageCount struct {
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Skipped  bool   `json:"skipped,omitempty"`
	Comment  string `json:"comment,omitempty"`
}

// PartitionCount is ibdiagnet 1's count of a partition's hosts.
type PartitionCount struct {
	PKey    string `json:"pkey"`
	Hosts   int    `json:"hosts"`
	Full    int    `json:"full"`
	Limited int    `json:"limited"`
}

// DiagnosedSM is a subnet manager that ibdiagnet found.
type DiagnosedSM struct {
	Role     string `json:"role"` // master, standby, …
	Port     int    `json:"port"`
	LID      int    `json:"lid"`
	GUID     string `json:"guid"`
	Device   int    `json:"dev"`
	Priority int    `json:"priority"`
}

// IBDiagnet reads the output of ibdiagnet.
func IBDiagnet(r io.Reader) (*IBDiagnetReport, error) {
	s := newLines(r)
	rep := &IBDiagnetReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		text := strings.TrimSpace(line)
		if rep.table(text) || rep.line(text) {
			known = true
			continue
		}
		rep.complained(line)
	}
	rep.total()
	return rep, rep.ended(s, known)
}

var _ = tool(IBDiagnet, "ibdiagnet", "ibdiagnet2")

var (
	diagDiscovered = regexp.MustCompile(`(\d+) nodes \((\d+) Switches & (\d+) CA-s\) discovered`)
	diagStage      = regexp.MustCompile(`^(?:-I- )?(\S.*?)\s{2,}(\d+|NA|N/A)\s+(\d+|NA|N/A)(?:\s+(.*))?$`)
	diagPartition  = regexp.MustCompile(`PKey:(0x[0-9a-fA-F]+) Hosts:(\d+) full:(\d+) limited:(\d+)`)
	diagSMRole     = regexp.MustCompile(`^SM - (.+)$`)
	diagSM         = regexp.MustCompile(`^Port[=:](\d+) lid[=:](0x[0-9a-fA-F]+|\d+) guid[=:](0x[0-9a-fA-F]+) dev[=:](\d+) priority[=:](\d+)`)
	diagVersion    = regexp.MustCompile(`(?:Loading IBDIAGNET from: \S*?ibdiagnet|IBDIAGNET version\s*:?\s*"?|Running version:\s*"?(?:IBDIAGNET )?)(\d[\w.-]*)`)
	diagRunTime    = regexp.MustCompile(`Run time was (\d+) seconds`)
)

// table reads the stages once their heading was seen. ibdiagnet 1 puts the
// errors first, ibdiagnet 2 the warnings.
func (rep *IBDiagnetReport) table(text string) bool {
	head := strings.Fields(strings.ToLower(strings.TrimPrefix(text, "-I- ")))
	if len(head) >= 3 && head[0] == "stage" {
		switch {
		case head[1] == "errors" && head[2] == "warnings":
			rep.order = 1
		case head[1] == "warnings" && head[2] == "errors":
			rep.order = 2
		default:
			return false
		}
		return true
	}
	if rep.order == 0 {
		return false
	}
	m := diagStage.FindStringSubmatch(text)
	if m == nil || strings.Contains(m[1], ":") {
		return false
	}
	c := StageCount{Errors: count(m[2]), Warnings: count(m[3]), Skipped: optionalInt(m[2]) == nil, Comment: m[4]}
	if rep.order == 2 {
		c.Errors, c.Warnings = c.Warnings, c.Errors
	}
	if rep.Stages == nil {
		rep.Stages = map[string]StageCount{}
	}
	if len(rep.Stages) < mostLabels {
		rep.Stages[m[1]] = c
	}
	return true
}

func (rep *IBDiagnetReport) line(text string) bool {
	numbers := func(m []string, to ...**int) {
		for i, p := range to {
			*p = optionalInt(m[1+i])
		}
	}
	if m := diagDiscovered.FindStringSubmatch(text); m != nil {
		numbers(m, &rep.Nodes, &rep.Switches, &rep.CAs)
		return true
	}
	if m := diagVersion.FindStringSubmatch(text); m != nil {
		rep.Version = strings.TrimRight(m[1], `."`)
		return true
	}
	if m := diagRunTime.FindStringSubmatch(text); m != nil {
		numbers(m, &rep.RunTime)
		return true
	}
	if m := diagPartition.FindStringSubmatch(text); m != nil {
		if len(rep.Partitions) < mostLabels*40 {
			rep.Partitions = append(rep.Partitions, PartitionCount{m[1], count(m[2]), count(m[3]), count(m[4])})
		}
		return true
	}
	if m := diagSMRole.FindStringSubmatch(text); m != nil {
		rep.role = m[1]
		return true
	}
	if m := diagSM.FindStringSubmatch(text); m != nil {
		rep.SMs = append(rep.SMs, DiagnosedSM{rep.role, count(m[1]), count(m[2]), m[3], count(m[4]), count(m[5])})
		return true
	}
	switch {
	case strings.HasPrefix(text, "-E-"):
		rep.ErrorLines++
		rep.keep(text)
		if rep.Error == "" && isFatal(text) {
			rep.Error = strings.TrimSpace(strings.TrimPrefix(text, "-E-"))
		}
	case strings.HasPrefix(text, "-W-"):
		rep.WarningLines++
		rep.Warnings++
		rep.keep(text)
	case strings.HasPrefix(text, "-I-"), text == "Fabric Summary", strings.HasPrefix(text, "ibdiagnet fabric SM report"):
	default:
		return rep.summary(text)
	}
	return true
}

// isFatal tells an error of the run from one that was found in the fabric.
func isFatal(text string) bool {
	for _, words := range []string{"Failed to init", "Failed to open", "no devices", "No IB", "umad", "Fabric Discover failed", "No HCA", "Local link is in", "No active ports"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// summary reads ibdiagnet 2's counts, "IB Switches             : 4".
func (rep *IBDiagnetReport) summary(text string) bool {
	key, value, ok := keyValue(text)
	if !ok {
		return false
	}
	to, has := map[string]**int{
		"Total Nodes": &rep.TotalNodes, "IB Switches": &rep.Switches, "IB Channel Adapters": &rep.CAs, "IB Aggregation Nodes": &rep.AggregationNodes,
		"IB Routers": &rep.Routers, "Number of aggregation nodes version 1": &rep.ANv1, "Number of aggregation nodes version 2": &rep.ANv2,
		"Number of LL aggregation trees": &rep.LLTrees, "Number of streaming aggregation trees": &rep.StreamingTrees, "Unique job IDs": &rep.UniqueJobIDs,
	}[key]
	n := optionalInt(value)
	if !has || n == nil {
		return false
	}
	*to = n
	return true
}

// count reads a number, decimal or with 0x, that a pattern has matched; one
// too large to be a count is 0.
func count(s string) int {
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		n, rest, ok := digits([]byte(hex), 16)
		if !ok || len(rest) > 0 || n > 1<<31 {
			return 0
		}
		return int(n)
	}
	if n := optionalInt(s); n != nil && *n < 1<<31 {
		return *n
	}
	return 0
}

func (rep *IBDiagnetReport) total() {
	if rep.Stages == nil {
		rep.ErrorsTotal, rep.WarningsTotal = rep.ErrorLines, rep.WarningLines
		return
	}
	for _, c := range rep.Stages {
		rep.ErrorsTotal += c.Errors
		rep.WarningsTotal += c.Warnings
	}
	rep.WarningsInTable = &rep.WarningsTotal
	found := rep.Nodes != nil && *rep.Nodes > 0 || rep.TotalNodes != nil && *rep.TotalNodes > 0
	rep.Clean = found && rep.Error == "" && rep.ErrorsTotal == 0 && rep.WarningsTotal == 0
}
