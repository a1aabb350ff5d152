// Command verdict reads what `go test -json` writes and prints what `go test` itself would
// have printed: one closing line for each package, and everything that a failed test said.
//
// Plain `go test` keeps quiet about skipped tests. Verdict names each with its reason, and
// with CI=true a skip fails the run, since a test that can't run there proves nothing. It
// also names what is slow. It never runs a test; scripts/tests pipes them through it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// slow is how many seconds a test may take without being named.
const slow = 30

// whyLines and whyBytes bound what the closing lines repeat of a failed test.
const (
	whyLines = 5
	whyBytes = 500
)

// where is how go test begins what a test logs.
var where = regexp.MustCompile(`^\w+\.go:\d+: `)

// maxLine bounds one event; go test cuts output into lines, and one line of a test may be long.
const maxLine = 16 << 20

func main() {
	v := newVerdict(os.Stdout)
	if err := v.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(1)
	}
	if !v.close(os.Getenv("CI") == "true") {
		os.Exit(1)
	}
}

// event is one line of test2json, as `go doc test2json` describes it.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// test names one test of one package.
type test struct{ pkg, name string }

func (t test) String() string { return t.pkg + " " + t.name }

// verdict collects the events of a run.
type verdict struct {
	out     io.Writer
	said    map[test][]string // what the tests that have not ended yet wrote
	order   map[string][]test // these, by package, as they began
	passed  int
	packs   int
	failed  []string
	skipped []string
	slow    []string
}

func newVerdict(out io.Writer) *verdict {
	return &verdict{out: out, said: map[test][]string{}, order: map[string][]test{}}
}

// read takes in events until the end. A line that is no event is printed as it is.
func (v *verdict) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(v.out, lines.Text())
			continue
		}
		v.take(e)
	}
	return lines.Err()
}

func (v *verdict) take(e event) {
	switch {
	case e.Action == "build-output":
		fmt.Fprint(v.out, e.Output)
	case e.Action == "build-fail":
		v.failed = append(v.failed, e.ImportPath+" was not built")
	case e.Test == "":
		v.takePackage(e)
	default:
		v.takeTest(test{e.Package, e.Test}, e)
	}
}

func (v *verdict) takeTest(t test, e event) {
	switch e.Action {
	case "run":
		v.order[t.pkg] = append(v.order[t.pkg], t)
	case "output":
		if !strings.HasPrefix(e.Output, "=== ") {
			v.said[t] = append(v.said[t], e.Output)
		}
	case "pass":
		v.passed++
	case "skip":
		v.skipped = append(v.skipped, fmt.Sprintf("%v: %s", t, v.reason(t)))
	case "fail":
		v.failed = append(v.failed, t.String()+v.why(t))
		fmt.Fprint(v.out, strings.Join(v.said[t], ""))
	}
	if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
		delete(v.said, t)
		if e.Elapsed > slow {
			v.slow = append(v.slow, fmt.Sprintf("%v: %.0f s", t, e.Elapsed))
		}
	}
}

// why is what a failed test said of it, cut short: the end of a long output is what is read first.
func (v *verdict) why(t test) string {
	var said []string
	for _, line := range v.said[t] {
		if line = strings.TrimSpace(line); len(said) < whyLines && where.MatchString(line) {
			said = append(said, "\n    "+line[:min(len(line), whyBytes)])
		}
	}
	return strings.Join(said, "")
}

// reason is what a test said before it was skipped.
func (v *verdict) reason(t test) string {
	var said []string
	for _, line := range v.said[t] {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}

func (v *verdict) takePackage(e event) {
	switch e.Action {
	case "output":
		// A package that passes says so in its closing line.
		if e.Output != "PASS\n" {
			fmt.Fprint(v.out, e.Output)
		}
	case "pass":
		v.packs++
	case "fail":
		// What a test that never ended wrote is often the only trace of a crash.
		for _, t := range v.order[e.Package] {
			fmt.Fprint(v.out, strings.Join(v.said[t], ""))
			delete(v.said, t)
		}
		v.failed = append(v.failed, e.Package)
	}
}

// close prints the sum and tells whether the run holds.
func (v *verdict) close(ci bool) bool {
	for _, s := range v.slow {
		fmt.Fprintln(v.out, "slow:", s)
	}
	for _, s := range v.skipped {
		fmt.Fprintln(v.out, "skipped:", s)
	}
	for _, f := range v.failed {
		fmt.Fprintln(v.out, "failed:", f)
	}
	fmt.Fprintf(v.out, "%d tests passed in %d packages, %d were skipped, %d failures\n", v.passed, v.packs, len(v.skipped), len(v.failed))
	switch {
	case len(v.failed) > 0:
		return false
	case v.packs == 0:
		fmt.Fprintln(v.out, "no package was tested")
		return false
	case ci && len(v.skipped) > 0:
		fmt.Fprintln(v.out, "with CI=true nothing may be skipped")
		return false
	}
	return true
}
