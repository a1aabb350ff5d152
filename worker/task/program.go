package task

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/porpoise/porpoise/internal/rpc"
)

// argLimit is the script that still goes as an argument: the kernel takes 128 KiB for
// one, and argv of a long script would fill the process table.
const argLimit = 100 << 10

// Interpret makes the command of a script: `program args -c script`, or
// `program args /dev/fd/3` for a long one.
func Interpret(d *rpc.Dispatch, script, interpreter string, args ...string) (Command, error) {
	program, err := find(d, interpreter)
	if err != nil {
		return Command{}, err
	}
	argv := append([]string{program}, args...)
	if strings.ContainsRune(script, 0) {
		return Command{}, &Error{"bad_spec", "the script holds a zero byte"}
	}
	if len(script) > argLimit {
		return Command{Argv: append(argv, "/dev/fd/3"), Script: []byte(script)}, nil
	}
	return Command{Argv: append(argv, "-c", script)}, nil
}

// find looks a program up as the task's own PATH says. A path as such is left to the
// start itself, which knows best.
func find(d *rpc.Dispatch, name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path, own := d.GetEnv()["PATH"]
	if !own {
		path = Path
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		full := filepath.Join(dir, name)
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return full, nil
		}
	}
	return "", &Error{"no_interpreter", fmt.Sprintf("%q is not on this worker (looked in %s)", name, path)}
}
