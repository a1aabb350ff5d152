package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/worker/mask"
)

const (
	// maxValue bounds one output: it becomes one environment string, and the kernel
	// takes 128 KiB for one.
	maxValue = 100 << 10
	// maxLines bounds a value that goes over several lines.
	maxLines = 1024
	// maxOutputFile bounds what is read of $PORPOISE_OUTPUT.
	maxOutputFile = 8 << 20
	// maxOutputs bounds all values of an attempt: they travel in one report.
	maxOutputs = 1 << 20
)

// outputs collects the declared values that a task sets on its standard output. Bytes
// may come cut at any place.
type outputs struct {
	declared map[string]bool
	secrets  *mask.Set // what no value may hold
	values   map[string]string
	total    int   // bytes of values
	err      error // the first value that can't be kept
	reason   string

	matched int    // of "${setValue(" or "#{setValue("
	inside  bool   // between the opening and its end
	text    []byte // so far
	lines   int
}

const opening = "{setValue("

func newOutputs(names []string, secrets *mask.Set) *outputs {
	if len(names) == 0 {
		return nil
	}
	o := &outputs{declared: make(map[string]bool, len(names)), secrets: secrets, values: map[string]string{}}
	for _, n := range names {
		o.declared[n] = true
	}
	return o
}

// scan reads more of standard output.
func (o *outputs) scan(data []byte) {
	for len(data) > 0 {
		if o.inside {
			data = o.value(data)
			continue
		}
		if o.matched == 0 {
			at := bytes.IndexAny(data, "$#")
			if at < 0 {
				return
			}
			o.matched, data = 1, data[at+1:]
			continue
		}
		if data[0] != opening[o.matched-1] {
			o.matched = 0 // the byte may begin an opening itself
			continue
		}
		o.matched++
		data = data[1:]
		if o.matched > len(opening) {
			o.inside, o.matched, o.text, o.lines = true, 0, o.text[:0], 0
		}
	}
}

// value takes bytes up to the end of the value, and returns the rest.
func (o *outputs) value(data []byte) []byte {
	for i, c := range data {
		o.text = append(o.text, c)
		switch {
		case c == '}' && bytes.HasSuffix(o.text, []byte(")}")):
			o.set(string(o.text[:len(o.text)-2]))
			o.inside = false
			return data[i+1:]
		case c == '\n':
			o.lines++
		}
		if len(o.text) > maxValue+512 || o.lines >= maxLines {
			name, _, _ := strings.Cut(string(o.text[:min(len(o.text), 256)]), "=")
			o.tooLarge(name)
			o.inside = false
			return data[i+1:]
		}
	}
	return nil
}

func (o *outputs) set(pair string) {
	name, value, ok := strings.Cut(pair, "=")
	if !ok || !o.declared[name] {
		return
	}
	if len(value) > maxValue {
		o.tooLarge(name)
		return
	}
	if !utf8.ValidString(value) {
		o.fail(fmt.Errorf("output %q is not UTF-8", name), "output_not_text")
		return
	}
	if o.secrets.Holds(value) {
		o.fail(fmt.Errorf("output %q holds the value of a secret, which would be kept and shown with it", name), "output_secret")
		return
	}
	o.total += len(value) - len(o.values[name])
	if o.total > maxOutputs {
		o.fail(fmt.Errorf("the outputs together are over %d KiB", maxOutputs>>10), "output_too_large")
		return
	}
	o.values[name] = value
}

func (o *outputs) tooLarge(name string) {
	if o.declared[name] {
		o.fail(fmt.Errorf("output %q is over %d KiB or %d lines", name, maxValue>>10, maxLines), "output_too_large")
	}
}

// fail keeps the first reason.
func (o *outputs) fail(err error, reason string) {
	if o.err == nil {
		o.err, o.reason = err, reason
	}
}

// readFile takes the k=v lines of $PORPOISE_OUTPUT, if the task made it, and removes it.
func (o *outputs) readFile(path string) error {
	// A task may leave a pipe or a link there: neither is to be waited for or followed.
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read outputs: %w", err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(path)
	}()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.New("read outputs: $PORPOISE_OUTPUT is no plain file")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxOutputFile+1))
	if err != nil {
		return fmt.Errorf("read outputs: %w", err)
	}
	if len(data) > maxOutputFile {
		o.fail(fmt.Errorf("the file of outputs is over %d MiB", maxOutputFile>>20), "output_too_large")
		return nil
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		o.set(strings.TrimSuffix(line, "\r"))
	}
	return nil
}
