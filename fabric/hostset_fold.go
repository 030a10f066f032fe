package fabric

import (
	"fmt"
	"strconv"
	"strings"
)

// String folds the set into a short expression such as node[001-064,070],rack[1-2]n[1-8]. ParseHosts reads it back and it
// stands for exactly the same hosts. The empty set gives "".
func (s HostSet) String() string {
	if len(s.names) == 0 {
		return ""
	}
	// Which number to fold first decides how well the others fold afterwards; both orders are tried, the shorter text wins.
	last, first := foldHosts(s.names, true), foldHosts(s.names, false)
	if len(first) < len(last) {
		return first
	}
	return last
}

// foldedName is a name cut into literals (even places) and numbers (odd places). A number that was folded holds its bracket.
type foldedName []string

// cutName cuts at numbers. A run of digits too long for a range stays part of the literal.
func cutName(name string) foldedName {
	parts := foldedName{""}
	for name != "" {
		if run := digitRun(name); run != "" && len(run) <= maxRangeDigits {
			parts = append(parts, run, "")
			name = name[len(run):]
			continue
		}
		n := max(1, len(digitRun(name)))
		parts[len(parts)-1] += name[:n]
		name = name[n:]
	}
	return parts
}

// foldHosts folds one number of the names after the other, the last one first or the first one first.
func foldHosts(names []string, lastFirst bool) string {
	entries := make([]foldedName, len(names))
	numbers := 0
	for i, name := range names {
		entries[i] = cutName(name)
		numbers = max(numbers, len(entries[i])/2)
	}
	for i := range numbers {
		place := 2*i + 1
		if lastFirst {
			place = 2*(numbers-i) - 1
		}
		entries = foldPlace(entries, place)
	}
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = strings.Join(e, "")
	}
	return strings.Join(texts, ",")
}

// foldPlace merges the entries that differ in nothing but the number at place. The order of first appearance is kept.
func foldPlace(entries []foldedName, place int) []foldedName {
	var merged []foldedName
	var numbers [][]string
	seen := make(map[string]int, len(entries))
	for _, e := range entries {
		if len(e) <= place {
			merged, numbers = append(merged, e), append(numbers, nil)
			continue
		}
		// The octet 0 is in no name, so keys of different entries never collide.
		key := strings.Join(e[:place], "\x00") + "\x00\x00" + strings.Join(e[place+1:], "\x00")
		i, found := seen[key]
		if !found {
			i = len(merged)
			seen[key] = i
			merged, numbers = append(merged, e), append(numbers, nil)
		}
		numbers[i] = append(numbers[i], e[place])
	}
	for i, run := range numbers {
		if len(run) > 1 {
			merged[i][place] = foldNumbers(run)
		}
	}
	return merged
}

// foldNumbers writes numbers as one bracket. They are in the order of CompareHostNames, each once.
func foldNumbers(numbers []string) string {
	var ranges []string
	for i := 0; i < len(numbers); {
		lo := numbers[i]
		value, err := strconv.ParseInt(lo, 10, 64)
		width := 0
		if lo[0] == '0' {
			width = len(lo)
		}
		j := i + 1
		for ; err == nil && j < len(numbers) && numbers[j] == fmt.Sprintf("%0*d", width, value+int64(j-i)); j++ {
		}
		if j-i > 1 {
			lo += "-" + numbers[j-1]
		}
		ranges = append(ranges, lo)
		i = j
	}
	return "[" + strings.Join(ranges, ",") + "]"
}
