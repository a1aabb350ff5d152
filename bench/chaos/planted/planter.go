package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// planter tries bugs.
type planter struct {
	root, dir string
	tries     int
	check     bool
}

// try builds the mutant and runs it until it is caught; it returns the broken promises.
func (p *planter) try(ctx context.Context, b bug) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	scratch := p.folder(b)
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return nil, err
	}
	overlay, err := p.plant(scratch, b)
	if err != nil {
		return nil, err
	}
	if p.check {
		return nil, p.compile(ctx, overlay, b)
	}
	binary, err := p.build(ctx, scratch, overlay)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(binary) }()
	for seed := 1; seed <= p.tries; seed++ {
		caught, err := p.course(ctx, scratch, binary, b, seed)
		if err != nil || len(caught) > 0 {
			return caught, err
		}
	}
	return nil, nil
}

// folder is where a bug's overlay and evidence go. Its name passes through shells.
func (p *planter) folder(b bug) string {
	words := strings.FieldsFunc(b.name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return filepath.Join(p.dir, strings.Join(words, "-"))
}

// plant writes the mutated files and the overlay that puts them in place.
func (p *planter) plant(scratch string, b bug) (string, error) {
	texts := map[string]string{}
	for _, e := range b.edits {
		path := filepath.Join(p.root, e.file)
		text, ok := texts[path]
		if !ok {
			read, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			text = string(read)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return "", fmt.Errorf("its text stands %d times in %s: %q", n, e.file, e.old)
		}
		texts[path] = strings.Replace(text, e.old, e.new, 1)
	}
	replace := map[string]string{}
	for path, text := range texts {
		mutated := filepath.Join(scratch, filepath.Base(path))
		if err := os.WriteFile(mutated, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = mutated
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(scratch, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o600)
}

// compile sees that the packages of the edits compile.
func (p *planter) compile(ctx context.Context, overlay string, b bug) error {
	args := []string{"build", "-overlay", overlay}
	for _, e := range b.edits {
		if dir := "./" + filepath.Dir(e.file); !slices.Contains(args, dir) {
			args = append(args, dir)
		}
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile: %s", out)
	}
	return nil
}

// build compiles the product with the overlay.
func (p *planter) build(ctx context.Context, scratch, overlay string) (string, error) {
	binary := filepath.Join(scratch, "porpoise")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-overlay", overlay, "-o", binary, "./cmd/porpoise")
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("does not compile: %s", out)
	}
	return binary, nil
}

// course is one run of a mutant.
func (p *planter) course(ctx context.Context, scratch, binary string, b bug, seed int) ([]string, error) {
	run := filepath.Join(scratch, fmt.Sprint(seed))
	if err := os.RemoveAll(run); err != nil {
		return nil, err
	}
	args := []string{
		"-porpoise", binary, "-verdict", filepath.Join(p.dir, "verdict"), "-programs", p.dir, "-dir", run, "-seed", fmt.Sprint(seed), "-quiet",
		"-masters", "2", "-workers", "2", "-apiservers", "1", "-etcd", "1", "-slots", "10", "-within", b.under.within.String(),
		"-quota", "0", "-rest", "1m", "-least-rate", "0", "-rate", fmt.Sprint(b.under.rate), "-shapes", b.shapes,
	}
	faults := b.under.count()
	if faults > 0 {
		args = append(args, "-only", b.under.faults)
	}
	args = append(args, b.under.more...)
	if len(b.edits) == 0 {
		// A control that did too little would be good for nothing.
		args = append(args, "-quota", fmt.Sprint(min(faults, 1)), "-least-rate", fmt.Sprint(b.under.rate/4))
	}
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, "chaos"), append(args, "-faults", fmt.Sprint(faults))...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Dir, cmd.WaitDelay = p.root, time.Minute
	out, err := cmd.CombinedOutput()
	if err != nil && !(errors.As(err, new(*exec.ExitError)) && cmd.ProcessState.ExitCode() == 1) {
		return nil, fmt.Errorf("seed %d: %w: %s", seed, err, tail(out))
	}
	text, err := os.ReadFile(filepath.Join(run, "verdict.json"))
	if err != nil {
		return nil, err
	}
	var v struct {
		Violations []struct {
			Promise string `json:"promise"`
		} `json:"violations"`
		Short []string `json:"short"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	caught := v.Short
	for _, found := range v.Violations {
		if !slices.Contains(caught, found.Promise) {
			caught = append(caught, found.Promise)
		}
	}
	return caught, nil
}

// tail is the end of a program's output.
func tail(out []byte) string {
	const most = 1000
	return string(out[max(0, len(out)-most):])
}
