package archive

import (
	"errors"
	"fmt"
	"time"
)

// moments are the forms in which people write a time, the longer ones first. Without a zone it is UTC.
var moments = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly}

// Find returns the entry of a kind and a fabric (empty means any) that words mean: "last", an id or the beginning of one, the id
// of a run, or a time such as 2026-11-30, which means the newest entry not after it; a day means its end.
func (a *Archive) Find(kind, fabric, words string) (Entry, error) {
	entries, err := a.List(kind, fabric)
	if err != nil {
		return Entry{}, err
	}
	missing := fmt.Errorf("%s of fabric %q, %.80q: %w", kind, fabric, words, ErrNotFound)
	if words == "last" && len(entries) > 0 {
		return entries[0], nil
	}
	for _, e := range entries {
		if e.Run == words {
			return e, nil
		}
	}
	if entry, err := a.At(ID(words)); !errors.Is(err, ErrNotFound) {
		if err == nil && (kind != "" && entry.Kind != kind || fabric != "" && entry.Fabric != fabric) {
			return Entry{}, missing
		}
		return entry, err
	}
	for _, form := range moments {
		at, err := time.Parse(form, words)
		if err != nil {
			continue
		}
		if form == time.DateOnly {
			at = at.AddDate(0, 0, 1).Add(-1)
		}
		for _, e := range entries {
			if !e.Time.After(at) {
				return e, nil
			}
		}
	}
	return Entry{}, missing
}
