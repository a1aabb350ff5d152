// Package lean gives back to the host what a process that has come to rest used before: memory that the collector
// has freed, and the pages of its own program, most of which only the start needs. What is needed again is there
// again at its first use, from the host's cache. It decides nothing: who calls it knows when rest has come.
package lean

import (
	"bufio"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Rest gives back what it can. It takes some milliseconds.
func Rest() {
	debug.FreeOSMemory()
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return // nothing is lost but room
	}
	defer func() { _ = maps.Close() }()
	for _, a := range program(maps, uint64(reflect.ValueOf(Rest).Pointer())) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(a.from), uintptr(a.to-a.from), unix.MADV_DONTNEED)
	}
}

// area is a range of addresses.
type area struct{ from, to uint64 }

// program reads which areas hold the file that an address of code is in, and nothing but what is in that file: pages that were
// written to, as a loader does where it moves a program, and a debugger, count as anonymous, and an area with one is left out.
func program(maps io.Reader, code uint64) []area {
	areas := map[string][]area{}
	file, node := "", ""
	var last area
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0" && node != "" {
			areas[node] = append(areas[node], last)
		}
		if len(fields) > 0 && strings.HasSuffix(fields[0], ":") {
			continue // a figure of the area above
		}
		node = ""
		if len(fields) < 6 || fields[4] == "0" {
			continue // from-to, rights, offset, device, inode, path
		}
		first, end, _ := strings.Cut(fields[0], "-")
		from, err := strconv.ParseUint(first, 16, 64)
		if err != nil {
			continue
		}
		to, err := strconv.ParseUint(end, 16, 64)
		if err != nil {
			continue
		}
		of := fields[3] + " " + fields[4]
		if from <= code && code < to {
			file = of
		}
		if rights := fields[1]; strings.HasPrefix(rights, "r-") && strings.HasSuffix(rights, "p") {
			node, last = of, area{from, to}
		}
	}
	return areas[file]
}
