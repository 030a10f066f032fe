// Package parse turns the text of the fabric's tools into values: Reader in,
// values out. It opens no file, runs no command and knows no host, so every
// parser can be fuzzed and replayed on an archived text.
//
// Each tool has one file, which declares its report type, its exported
// function and, with [tool], the name under which [Tool] finds it. The rules
// that hold for all of them:
//
//   - Standard output and standard error may be mixed, coloured, prompted or
//     cut off; [lines] cleans what can be cleaned in one place.
//   - Exit codes lie, so a report says what the text proves. What the tool
//     itself complained about is in [Trouble]; a text in which nothing could
//     be recognised is [ErrNotUnderstood]. Where a command changes something,
//     [Verdict] has the outcome and its class.
//   - Half a text gives half a report with Incomplete set.
//   - No parser panics, and none allocates by a number it has read.
//
// Start reading at ibstat.go, which is typical, flint.go, which judges an act,
// and ibnetdiscover.go, which has to be fast.
package parse
