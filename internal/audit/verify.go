package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Report is what Verify found in a file whose chain holds.
type Report struct {
	Entries int     // lines that are entries
	Torn    int     // lines cut short by a crash, each vouched for by the entry after it
	Last    Receipt // the last entry
}

// Read calls each with every entry in r, in order, and its receipt, as long as the chain holds and each returns no error.
func Read(r io.Reader, each func(Entry, Receipt) error) (Report, error) {
	var report Report
	prev, torn, number := genesis, false, 0
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 0, 64<<10), maxLine+1)
	scanner.Split(splitLines)
	for scanner.Scan() {
		number++
		line := scanner.Bytes()
		var entry Entry
		if err := strictly(line, &entry); err != nil {
			if torn {
				return report, fmt.Errorf("audit line %d: two broken lines in a row: %w", number, err)
			}
			// Whether a crash tore it or somebody changed it is for the next entry to say.
			torn, prev = true, hashOf(line)
			continue
		}
		switch {
		case entry.Prev != prev:
			return report, fmt.Errorf("audit line %d: it continues a line with hash %.12s…, the line before has %.12s…: lines were changed, added or removed", number, entry.Prev, prev)
		case entry.Torn != torn:
			return report, fmt.Errorf("audit line %d: the line before is broken or whole other than this entry says", number)
		case entry.Seq != report.Last.Seq+1:
			return report, fmt.Errorf("audit line %d: it has number %d, expected is %d", number, entry.Seq, report.Last.Seq+1)
		}
		if torn {
			report.Torn++
		}
		torn, prev = false, hashOf(line)
		report.Entries++
		report.Last = Receipt{Seq: entry.Seq, Hash: prev}
		if each == nil {
			continue
		}
		if err := each(entry, report.Last); err != nil {
			return report, err
		}
	}
	if err := scanner.Err(); err != nil {
		return report, fmt.Errorf("audit line %d: %w", number+1, err)
	}
	if torn {
		return report, fmt.Errorf("audit line %d, the last, is broken: %w", number, errTail)
	}
	return report, nil
}

// errTail is wrapped when only the last line is broken, which a crash explains until the next entry confirms it.
var errTail = errors.New("torn by a crash or changed; the next entry will record it")

// IsTornTail says whether an error of Read or Verify is about nothing but the last line.
func IsTornTail(err error) bool { return errors.Is(err, errTail) }

// Verify checks the whole chain in r.
func Verify(r io.Reader) (Report, error) { return Read(r, nil) }

// strictly decodes a line and refuses one that differs from what Append would have written in its place.
func strictly(line []byte, entry *Entry) error {
	if err := json.Unmarshal(line, entry); err != nil {
		return err
	}
	again, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, line) {
		return errors.New("not in the form in which entries are written")
	}
	return nil
}

// splitLines splits at newlines only, unlike bufio.ScanLines, which also drops a carriage return that the hash was taken over.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
