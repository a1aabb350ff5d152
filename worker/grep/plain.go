package grep

import "bytes"

const (
	escape = 0x1b
	bell   = 0x07
	del    = 0x7f
)

// hidden tells whether a byte is never shown by itself. Tab, line end, carriage return
// and the two that terminals draw are not among them.
func hidden(c byte) bool {
	return c < 0x1c && c != '\t' && c != '\n' && c != '\r' || c == del
}

// clean tells whether every line of a block is shown as it is, but for its line end.
func clean(block []byte) bool {
	for i, c := range block {
		if c >= 0x1c && c != del || c == '\n' || c == '\t' {
			continue
		}
		if c != '\r' || i+1 < len(block) && block[i+1] != '\n' {
			return false
		}
	}
	return true
}

// shown appends block as a reader sees it, line by line: as many line ends as before.
func shown(out, block []byte) []byte {
	for len(block) > 0 {
		line, end := block, 0
		if at := bytes.IndexByte(block, '\n'); at >= 0 {
			line, end = block[:at], 1
		}
		block = block[len(line)+end:]
		out = shownLine(out, line)
		if end > 0 {
			out = append(out, '\n')
		}
	}
	return out
}

// shownLine drops colours, cursor moves and control characters. Of a line that was drawn
// again over itself the last drawing is left.
func shownLine(out, line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	line = line[bytes.LastIndexByte(line, '\r')+1:]
	for len(line) > 0 {
		n := 0
		for n < len(line) && !hidden(line[n]) {
			n++
		}
		out = append(out, line[:n]...)
		line = line[n:]
		if len(line) == 0 {
			break
		}
		if line[0] == escape {
			line = line[sequence(line):]
		} else {
			line = line[1:]
		}
	}
	return out
}

// sequence is the length of the escape sequence that line begins with. One that is cut
// off, or of no known form, is the escape alone.
func sequence(line []byte) int {
	if len(line) < 2 {
		return 1
	}
	switch c := line[1]; c {
	case '[':
		n := 2
		for n < len(line) && (line[n] >= '0' && line[n] <= '?') {
			n++
		}
		if n < len(line) && line[n] >= '@' && line[n] <= '~' {
			return n + 1
		}
		return 1
	case ']':
		n := 2
		for n < len(line) && line[n] != bell && line[n] != escape {
			n++
		}
		switch {
		case n < len(line) && line[n] == bell:
			return n + 1
		case n+1 < len(line) && line[n+1] == '\\':
			return n + 2
		}
		return n
	case '(', ')':
		return min(3, len(line))
	case '=', '>', '7', '8':
		return 2
	}
	return 1
}
