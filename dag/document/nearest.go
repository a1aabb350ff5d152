package document

// Nearest returns the known word that text was probably meant to be, or "". Among
// equally near ones the first known wins.
func Nearest(text string, known []string) string {
	const longest = 64
	if len(text) > longest {
		return ""
	}
	best, bestAt := "", 1+max(1, len(text)/3)
	for _, k := range known {
		if d := distance(text, k, bestAt); d < bestAt {
			best, bestAt = k, d
		}
	}
	return best
}

// distance counts the edits from a to b: a byte put in, taken out, changed, or two
// neighbours swapped. It gives up at limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		lowest := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			lowest = min(lowest, row[j])
		}
		if lowest > limit { // a swap may still take one back
			return limit
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
