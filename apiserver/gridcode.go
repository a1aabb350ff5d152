package apiserver

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// How a grid is written: columns of letters, since 2,000 tasks of 30 instances as objects are 10 MB.
// The console reads it in ui/src/domain/grid/code.ts; its tests and these hold the two together.

// gridLetters are the letters of the states of tasks; a blank cell is gridNone.
var gridLetters = map[dag.TaskState]byte{
	dag.TaskWaiting: 'w', dag.TaskReady: 'q', dag.TaskDispatched: 'd', dag.TaskRunning: 'r', dag.TaskRetryWait: 'y', dag.TaskKilling: 'k',
	dag.TaskSuccess: 's', dag.TaskForcedSuccess: 'S', dag.TaskFailed: 'f', dag.TaskKilled: 'K', dag.TaskSkipped: 'p',
	dag.TaskUpstreamFailed: 'u', dag.TaskDisabled: 'x',
}

const (
	gridNone    = '.' // the instance has no such task, or left it out of its scope
	gridUnknown = '?' // a state without a letter
	// gridTimes are the letters of durations, in the order of their code points. Those that JSON escapes are left out.
	gridTimes = "!#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|"
	gridNever = ' ' // it has not ended, or never began
	gridFar   = '~' // too far from the others for a letter: it stands in Far
	// gridStep is how far neighbouring letters are apart. A letter is right to one and a half percent,
	// and the letters reach from a quarter of the median to nearly four times of it.
	gridStep = 1.03
)

// gridColumn is one instance as letters, a letter for each row.
type gridColumn struct {
	states []byte
	took   []time.Duration // below 0: none
	tries  []int
}

func newGridColumn(rows int) gridColumn {
	c := gridColumn{states: make([]byte, rows), took: make([]time.Duration, rows), tries: make([]int, rows)}
	for i := range rows {
		c.states[i], c.took[i] = gridNone, -1
	}
	return c
}

func (c *gridColumn) set(row int, cell sql.Cell) {
	if cell.State == "" {
		return
	}
	letter, ok := gridLetters[cell.State]
	if !ok {
		letter = gridUnknown
	}
	c.states[row], c.tries[row] = letter, cell.Attempts
	if cell.StartedAt > 0 && cell.FinishedAt > 0 {
		c.took[row] = max(0, cell.FinishedAt.Sub(cell.StartedAt))
	}
}

// gridBase is the median of each row's durations, in ms: what the letters count from.
func gridBase(columns []gridColumn, rows int) []int64 {
	base := make([]int64, rows)
	var all []time.Duration
	for row := range rows {
		all = all[:0]
		for i := range columns {
			if d := columns[i].took[row]; d >= 0 {
				all = append(all, d)
			}
		}
		slices.Sort(all)
		if n := len(all); n > 0 {
			base[row] = all[n/2].Milliseconds()
		}
	}
	return base
}

// runLength writes equal neighbours as one: sssf is s3f.
func runLength(letters []byte) string {
	var b strings.Builder
	for i := 0; i < len(letters); {
		n := 1
		for i+n < len(letters) && letters[i+n] == letters[i] {
			n++
		}
		b.WriteByte(letters[i])
		if n > 1 {
			b.WriteString(strconv.Itoa(n))
		}
		i += n
	}
	return b.String()
}

// encode writes the column; base is gridBase of the whole grid.
func (c *gridColumn) encode(base []int64, into *GridInstance) {
	into.Cells = runLength(c.states)
	took := make([]byte, len(c.took))
	for row, d := range c.took {
		took[row] = gridNever
		if d >= 0 {
			var ok bool
			if took[row], ok = gridTime(d.Milliseconds(), base[row]); !ok {
				into.Far = append(into.Far, int64(row), d.Milliseconds())
			}
		}
		if n := c.tries[row]; n > 1 {
			into.Attempts = append(into.Attempts, row, n)
		}
	}
	into.Took = strings.TrimRight(string(took), string(gridNever))
}

// gridTime is the letter of a duration beside the median of its row. One is added to both, so that nothing
// is as good a duration as any: tasks of a few milliseconds are exact.
func gridTime(ms, base int64) (byte, bool) {
	const middle = len(gridTimes) / 2
	step := int(math.Round(math.Log(float64(ms+1)/float64(base+1)) / math.Log(gridStep)))
	if step < -middle || step > middle {
		return gridFar, false
	}
	return gridTimes[middle+step], true
}
