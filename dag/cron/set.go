package cron

import "math/bits"

// set is some of the values of a field. Years are counted from firstYear, days of the week
// from Sunday, 0, whatever the dialect.
type set [3]uint64

func (s *set) add(v int) { s[v/64] |= 1 << (v % 64) }

func (s *set) has(v int) bool { return s[v/64]&(1<<(v%64)) != 0 }

func (s *set) count() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2])
}

// from returns the smallest value that is at least v, -1 where there is none.
func (s *set) from(v int) int {
	for word := v / 64; word < len(s); word++ {
		rest := s[word]
		if word == v/64 {
			rest &= ^uint64(0) << (v % 64)
		}
		if rest != 0 {
			return word*64 + bits.TrailingZeros64(rest)
		}
	}
	return -1
}

// first returns the smallest value.
func (s *set) first() int { return s.from(0) }

// last returns the largest value.
func (s *set) last() int {
	for word := len(s) - 1; word >= 0; word-- {
		if s[word] != 0 {
			return word*64 + bits.Len64(s[word]) - 1
		}
	}
	return -1
}

// values returns what is in the set, the smallest first.
func (s *set) values() []int {
	var all []int
	for v := s.first(); v >= 0; v = s.from(v + 1) {
		all = append(all, v)
	}
	return all
}

// fill returns the set of all values from low to high.
func fill(low, high int) set {
	var s set
	for v := low; v <= high; v++ {
		s.add(v)
	}
	return s
}
