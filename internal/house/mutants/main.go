// Command mutants plants one bug after another into a package and demands that the
// package's tests catch each: it tests the tests. It changes no file of the tree: the go
// command is given an overlay. Run it from anywhere in the module with
// "go run ./internal/house/mutants"; it prints a table and exits 1 if a bug survives, if a planted
// text no longer stands in its file exactly once, or if a mutant does not compile.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// mutant is one planted bug: old stands exactly once in the file and becomes new.
type mutant struct{ name, file, old, new string }

// limit is how long the tests of one mutant may take where its target has no limit of its own. A bug
// that makes them hang is caught too, but slowly.
const limit = 2 * time.Minute

// result is what the tests said about one mutant.
type result struct {
	caughtBy string // name of the first test that failed
	err      error  // the mutant could not be tried
	took     time.Duration
}

func main() {
	jobs := flag.Int("jobs", 2, "mutants tried at the same time")
	pkg := flag.String("pkg", "", "try only mutants that the tests of packages whose name contains this must catch")
	only := flag.String("only", "", "try only mutants whose name contains this")
	tests := flag.String("run", "", "use only tests that match this")
	flag.Parse()
	if err := run(*jobs, *pkg, *only, *tests); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// planted is one mutant with what its package needs.
type planted struct {
	mutant
	target *target
	dir    string // of the file
	tests  string // of the package whose tests must catch it
}

// choose lists the mutants that are wanted.
func choose(pkg, only string) (chosen []planted, err error) {
	for i := range targets {
		t := &targets[i]
		if !strings.Contains(cmp.Or(t.by, t.pkg), pkg) {
			continue
		}
		dir, err := find(t.pkg)
		if err != nil {
			return nil, err
		}
		tests := dir
		if t.by != "" {
			if tests, err = find(t.by); err != nil {
				return nil, err
			}
		}
		for _, m := range t.mutants {
			if strings.Contains(m.name, only) {
				chosen = append(chosen, planted{m, t, dir, tests})
			}
		}
	}
	return chosen, nil
}

// find returns the folder of a package.
func find(pkg string) (string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/porpoise/porpoise/"+pkg).Output()
	if err != nil {
		return "", fmt.Errorf("find package %s: %w", pkg, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// run tries all mutants and prints the table in their order, each line as soon as it can be said.
func run(jobs int, pkg, only, tests string) error {
	chosen, err := choose(pkg, only)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	results := make([]chan result, len(chosen))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var next atomic.Int64
	var all sync.WaitGroup
	defer all.Wait()
	for range max(jobs, 1) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(chosen); i = int(next.Add(1)) - 1 {
				results[i] <- try(chosen[i], filepath.Join(scratch, fmt.Sprint(i)), tests)
			}
		})
	}
	return report(chosen, results)
}

func report(chosen []planted, results []chan result) error {
	bad := 0
	for i, m := range chosen {
		r := <-results[i]
		verdict := "caught by " + r.caughtBy
		switch {
		case r.err != nil:
			verdict = "NOT TRIED: " + r.err.Error()
			bad++
		case r.caughtBy == "":
			verdict = "SURVIVED"
			bad++
		}
		fmt.Printf("%-52s %-28s %5.1fs  %s\n", m.name, m.target.pkg+"/"+m.file, r.took.Seconds(), verdict)
	}
	fmt.Printf("%d of %d mutants caught\n", len(chosen)-bad, len(chosen))
	if bad > 0 {
		return fmt.Errorf("%d mutants were not caught", bad)
	}
	return nil
}

var (
	failed = regexp.MustCompile(`--- FAIL: (\S+)`)
	// seed is how a test that tries many says which one it was, and what was wrong.
	seed = regexp.MustCompile(`seed (\d+): (\w+)`)
)

// try runs the tests of a package with one mutant in place of its file.
func try(m planted, scratch, tests string) result {
	start := time.Now()
	overlay, err := plant(m.dir, scratch, m.mutant)
	if err != nil {
		return result{err: err}
	}
	patience := cmp.Or(m.target.limit, limit)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := append([]string{"test", "-overlay", overlay, "-count=1", "-failfast", "-vet=off", "-run", tests, "."}, m.target.args...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.WaitDelay = m.tests, time.Second
	// The tests are a process below go's: they end with it, or a bug that makes them hang would eat the machine.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	r := result{took: time.Since(start)}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return r
	case ctx.Err() != nil:
		r.caughtBy = "a test that hung"
	case !errors.As(err, &exit):
		r.err = err
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		r.err = fmt.Errorf("does not compile: %s", bytes.TrimSpace(out))
	default:
		r.caughtBy = "a panic"
		if found := failed.FindSubmatch(out); found != nil {
			r.caughtBy = string(found[1])
		}
		if found := seed.FindSubmatch(out); found != nil {
			r.caughtBy += fmt.Sprintf(" with seed %s by %s", found[1], found[2])
		}
	}
	return r
}

// plant writes the mutated file and an overlay that puts it in place of the real one.
func plant(dir, scratch string, m mutant) (overlay string, err error) {
	path := filepath.Join(dir, m.file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 {
		return "", fmt.Errorf("its text stands %d times in %s", n, m.file)
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return "", err
	}
	mutated := filepath.Join(scratch, m.file)
	text = bytes.Replace(text, []byte(m.old), []byte(m.new), 1)
	if err := os.WriteFile(mutated, text, 0o644); err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(scratch, "overlay.json")
	return overlay, os.WriteFile(overlay, replace, 0o644)
}
