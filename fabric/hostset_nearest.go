package fabric

import "strings"

// NearestName finds the candidate a person most likely meant by word: first one that differs only in case or in the zeros
// before a number (node17 for node017), then the one with the fewest typing slips, if they are few for the length of the word.
// Of equally near candidates the first wins.
func NearestName(word string, candidates []string) (string, bool) {
	bare := bareName(word)
	for _, c := range candidates {
		if bareName(c) == bare {
			return c, true
		}
	}
	// One slip in three characters is still a slip, more is another word.
	limit := max(1, len(word)/3)
	best, bestSlips := "", limit+1
	for _, c := range candidates {
		if d := len(c) - len(word); d >= bestSlips || -d >= bestSlips {
			continue
		}
		if slips := typingSlips(strings.ToLower(word), strings.ToLower(c)); slips < bestSlips {
			best, bestSlips = c, slips
		}
	}
	return best, bestSlips <= limit
}

// bareName is the name in lower case without zeros before numbers.
func bareName(name string) string {
	var b strings.Builder
	for name != "" {
		run := digitRun(name)
		if run == "" {
			b.WriteString(strings.ToLower(name[:1]))
			name = name[1:]
			continue
		}
		name = name[len(run):]
		if run = strings.TrimLeft(run, "0"); run == "" {
			run = "0"
		}
		b.WriteString(run)
	}
	return b.String()
}

// typingSlips is the optimal string alignment distance of two words in octets: one slip is a wrong, a missing or an additional
// octet, or two neighbours in the wrong order.
func typingSlips(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j-1]+cost, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
