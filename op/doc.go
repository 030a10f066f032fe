// Package op holds the vocabulary of operations: what an operation is called,
// which parameters it takes, how dangerous it is, and how a person's words
// become its input. Every surface (Slack, the terminal, schedules, the
// generated docs) is drawn from one [Spec].
//
// The package knows neither Slack nor Temporal and imports the standard library
// only. Start reading at [Spec].
package op
