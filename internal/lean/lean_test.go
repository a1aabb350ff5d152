package lean

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const table = `00400000-02c5d000 r-xp 00000000 fd:01 77 /bin/porpoise
Rss:                 100 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
02c5d000-05000000 r--p 0285d000 fd:01 77 /bin/porpoise
Anonymous:             0 kB
05000000-05080000 r--p 04c00000 fd:01 77 /bin/porpoise
Anonymous:             4 kB
05080000-05100000 rw-p 04c80000 fd:01 77 /bin/porpoise
Anonymous:             0 kB
05100000-05200000 rw-p 00000000 00:00 0 [heap]
Anonymous:             8 kB
7f0000000000-7f0000001000 r--p 00000000 fd:01 78 /lib/other
Anonymous:             0 kB
7f0000002000-7f0000003000 r--s 00000000 fd:01 77 /bin/porpoise
Anonymous:             0 kB
7ffe00000000-7ffe00001000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
`

func TestOnlyWhatStandsInTheProgramsFileIsGivenBack(t *testing.T) {
	t.Parallel()
	want := []area{{0x400000, 0x2c5d000}, {0x2c5d000, 0x5000000}}
	if got := program(strings.NewReader(table), 0x500000); !slices.Equal(got, want) {
		t.Errorf("areas = %x, want the two of the program that nobody has written to: %x", got, want)
	}
	if got := program(strings.NewReader(table), 0x1000); len(got) != 0 {
		t.Errorf("areas of no known program = %x, want none", got)
	}
}

func TestAProcessAtRestHoldsLessOfItsProgram(t *testing.T) {
	before := resident(t)
	Rest()
	if after := resident(t); after >= before {
		t.Errorf("%d kB of the file are resident after a rest, %d before", after, before)
	}
}

// resident is how much of files this process holds, in kB.
func resident(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "RssFile:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Skip("this system does not tell what of files is resident")
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
