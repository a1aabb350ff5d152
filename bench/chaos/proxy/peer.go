package proxy

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Owner finds which of the processes has the loopback TCP connection that comes from an
// address, by /proc/net/tcp and the processes' open files; "" where none has. Processes
// are given by name.
func Owner(client net.Addr, pids map[string]int) string {
	at, ok := client.(*net.TCPAddr)
	if !ok {
		return ""
	}
	inode := inodeOf(at.Port)
	if inode == "" {
		return ""
	}
	want := "socket:[" + inode + "]"
	for name, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/fd", pid)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if link, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && link == want {
				return name
			}
		}
	}
	return ""
}

// inodeOf finds the socket whose local port this is.
func inodeOf(port int) string {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		suffix := fmt.Sprintf(":%04X", port)
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			const local, inode = 1, 9
			fields := strings.Fields(lines.Text())
			if len(fields) > inode && strings.HasSuffix(fields[local], suffix) && fields[inode] != "0" {
				_ = f.Close()
				return fields[inode]
			}
		}
		_ = f.Close()
	}
	return ""
}
