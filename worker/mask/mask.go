// Package mask takes the values of secrets out of text: of a stream that comes in pieces, cut at any
// byte, and of single texts. It owns which forms of a value are found, and that whatever is found
// is replaced as a whole. It keeps no more of a stream than could be the beginning of a value. The
// runner masks the output of processes by it, the worker that of calls.
package mask

// Mask stands for what was taken out.
const Mask = "***"

// Set finds the values of some secrets in all their forms. It never changes, and is safe for
// concurrent use. A nil Set finds nothing.
//
// It is the automaton of Aho and Corasick (CACM 18, 1975): a trie of all forms in which each node knows
// where to go on when a byte does not fit. A byte costs the same however many forms there are. Nodes keep their
// children as lists: forms are few and long, so that nearly all have one.
type Set struct {
	nodes []node
	first [256]bool       // bytes that a form begins with
	pairs [1 << 10]uint64 // a bit for each two bytes that a form begins with
}

type node struct {
	child, next int32 // the first child, the next sibling; 0: none
	fail        int32 // the longest other beginning that the bytes up to here end with
	depth       int32 // bytes up to here
	longest     int32 // of the form that ends here, the longest; 0: none does
	b           byte
}

// New returns the Set of some secrets' values, nil where there are none.
func New(values []string) *Set {
	if len(values) == 0 {
		return nil
	}
	s := &Set{nodes: make([]node, 1)}
	for _, value := range values {
		for _, form := range forms(value) {
			s.add(form)
		}
	}
	s.link()
	return s
}

func (s *Set) add(form string) {
	at := int32(0)
	for i := range len(form) {
		next := s.childOf(at, form[i])
		if next == 0 {
			next = int32(len(s.nodes))
			s.nodes = append(s.nodes, node{next: s.nodes[at].child, depth: int32(i + 1), b: form[i]})
			s.nodes[at].child = next
		}
		at = next
	}
	s.nodes[at].longest = s.nodes[at].depth
	s.first[form[0]] = true
	pair := int(form[0])<<8 | int(form[1])
	s.pairs[pair>>6] |= 1 << (pair & 63)
}

func (s *Set) childOf(at int32, b byte) int32 {
	for c := s.nodes[at].child; c != 0; c = s.nodes[c].next {
		if s.nodes[c].b == b {
			return c
		}
	}
	return 0
}

// link fills in where to go on, nearest nodes first.
func (s *Set) link() {
	var queue []int32
	for c := s.nodes[0].child; c != 0; c = s.nodes[c].next {
		queue = append(queue, c)
	}
	for head := 0; head < len(queue); head++ {
		at := queue[head]
		for c := s.nodes[at].child; c != 0; c = s.nodes[c].next {
			s.nodes[c].fail = s.step(s.nodes[at].fail, s.nodes[c].b)
			queue = append(queue, c)
		}
		if s.nodes[at].longest == 0 {
			s.nodes[at].longest = s.nodes[s.nodes[at].fail].longest
		}
	}
}

// step goes on by one byte.
func (s *Set) step(at int32, b byte) int32 {
	for {
		if c := s.childOf(at, b); c != 0 {
			return c
		}
		if at == 0 {
			return 0
		}
		at = s.nodes[at].fail
	}
}

// skip returns the first place from i on where a form may begin. At the last byte the next one is not known.
func (s *Set) skip(data []byte, i int) int {
	for ; i < len(data)-1; i++ {
		if !s.first[data[i]] {
			continue
		}
		if pair := int(data[i])<<8 | int(data[i+1]); s.pairs[pair>>6]&(1<<(pair&63)) != 0 {
			return i
		}
	}
	return i
}

// Holds says whether a form of a value stands in a text.
func (s *Set) Holds(text string) bool {
	if s == nil {
		return false
	}
	at := int32(0)
	for i := range len(text) {
		if at = s.step(at, text[i]); s.nodes[at].longest > 0 {
			return true
		}
	}
	return false
}

// Text returns a text with everything that was found replaced.
func (s *Set) Text(text string) string {
	if !s.Holds(text) {
		return text
	}
	m := s.Stream()
	out := append([]byte(nil), m.Write([]byte(text))...)
	return string(append(out, m.End()...))
}

// Stream masks one stream. It is for one goroutine at a time.
type Stream struct {
	set   *Set
	state int32
	held  []byte // the end of what has come, as long as it may be the beginning of a form
	found []span // in held, in order, apart from one another
	run   bool   // the last that went out stands for bytes up to held
	out   []byte
}

// span is bytes that are to be replaced.
type span struct{ from, to int }

// Stream returns a Stream that has seen nothing.
func (s *Set) Stream() *Stream { return &Stream{set: s} }

// Write takes more of the stream and returns what may be seen of it by now; the slice is valid until the next call.
func (m *Stream) Write(data []byte) []byte {
	if m.set == nil {
		return data
	}
	s, state := m.set, m.state
	kept := len(m.held)
	m.held = append(m.held, data...)
	for i := kept; i < len(m.held); i++ {
		if state == 0 {
			i = s.skip(m.held, i)
		}
		state = s.step(state, m.held[i])
		if n := s.nodes[state].longest; n > 0 {
			m.mark(span{i + 1 - int(n), i + 1})
		}
	}
	m.state = state
	return m.emit(len(m.held) - int(s.nodes[state].depth))
}

// End returns what was held back; the stream is over.
func (m *Stream) End() []byte {
	m.state = 0
	return m.emit(len(m.held))
}

// mark notes a find, and joins it with those that it overlaps or touches.
func (m *Stream) mark(f span) {
	for n := len(m.found); n > 0 && m.found[n-1].to >= f.from; n-- {
		f.from = min(f.from, m.found[n-1].from)
		m.found = m.found[:n-1]
	}
	m.found = append(m.found, f)
}

// emit lets the first n held bytes go.
func (m *Stream) emit(n int) []byte {
	m.out = m.out[:0]
	at, gone := 0, 0
	for ; gone < len(m.found) && m.found[gone].from < n; gone++ {
		f := &m.found[gone]
		if f.from > at {
			m.out, m.run = append(m.out, m.held[at:f.from]...), false
		}
		if !m.run {
			m.out, m.run = append(m.out, Mask...), true
		}
		if at = f.to; at > n { // its end is held back
			at, f.from = n, n
			break
		}
	}
	if at < n {
		m.out, m.run = append(m.out, m.held[at:n]...), false
	}
	m.held = append(m.held[:0], m.held[n:]...)
	m.found = append(m.found[:0], m.found[gone:]...)
	for i := range m.found {
		m.found[i].from -= n
		m.found[i].to -= n
	}
	return m.out
}
