package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/trial"
)

// casesMark stands before the extension of a file with cases: etl.test.yaml is of etl.yaml.
const casesMark = ".test"

// tested is what came of the cases of one workflow.
type tested struct {
	File     string          `json:"file"`
	CasesOf  string          `json:"cases_file"`
	Workflow string          `json:"workflow"`
	Cases    []trial.Outcome `json:"cases"`
}

func (c *cli) testCommand() *cobra.Command {
	var only, junit string
	var verbose, schema bool
	cmd := &cobra.Command{
		Use:   "test FILE|DIR [CASES]",
		Short: "Try workflows out with given results, without a server",
		Long: `Run the cases of a workflow through the real rules, with the results that they give in
place of workers, and with a clock that does not wait. The cases of etl.yaml are in
etl.test.yaml beside it, unless a file is named. Of a folder every workflow is tested
that has cases beside it. Exit code 1 says that something came otherwise than expected.`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if schema {
				_, err := c.out.Write(trial.Schema())
				return err
			}
			chosen, err := regexp.Compile(only)
			if err != nil {
				return usagef("--run %q: %w", only, err)
			}
			suites, err := c.suites(args)
			if err != nil {
				return err
			}
			results, failed, ran := trialRun(suites, chosen)
			if ran == 0 {
				return usagef("no case has a name that fits --run %q", only)
			}
			if junit != "" {
				if err := writeJUnit(junit, results); err != nil {
					return &failure{code: exitUsage, err: err}
				}
			}
			if err := c.showTested(results, verbose, ran, failed); err != nil {
				return err
			}
			if failed > 0 {
				return told(exitFailed)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&only, "run", "", "only cases whose name fits this regular expression")
	f.StringVar(&junit, "junit", "", "also write the results to this file, as JUnit XML")
	f.BoolVarP(&verbose, "verbose", "v", false, "show what happened in every case, moment by moment")
	f.BoolVar(&schema, "schema", false, "print the JSON Schema of files with cases")
	return cmd
}

// suite is a workflow with its cases.
type suite struct {
	source source
	file   string // of the cases
	cases  *trial.Suite
}

// suites reads what is to be tested. All that is wrong in any file comes at once.
func (c *cli) suites(args []string) ([]suite, error) {
	if len(args) == 0 {
		return nil, usagef("say what to test: a file, or a folder")
	}
	info, err := os.Stat(args[0])
	if err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	if info.IsDir() && len(args) > 1 {
		return nil, usagef("%s is a folder: the cases are beside each of its workflows", args[0])
	}
	sources, err := c.read(args[:1])
	if err != nil {
		return nil, err
	}
	var list []suite
	wrong := false
	for _, s := range sources {
		file := casesOf(s.name)
		if len(args) > 1 {
			file = args[1]
		}
		cases, err := readCases(s, file)
		switch {
		case err == nil:
			list = append(list, suite{s, file, cases})
		case info.IsDir() && errors.Is(err, fs.ErrNotExist):
		default:
			fmt.Fprintln(c.err, err)
			wrong = true
		}
	}
	if wrong {
		return nil, told(exitUsage)
	}
	if len(list) == 0 {
		return nil, usagef("%s holds no workflow with cases beside it, such as etl%s.yaml for etl.yaml", args[0], casesMark)
	}
	return list, nil
}

// casesOf is the file beside a definition that has its cases.
func casesOf(name string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + casesMark + ext
}

// isCases says that a file holds cases, not a workflow.
func isCases(name string) bool {
	return strings.EqualFold(filepath.Ext(strings.TrimSuffix(name, filepath.Ext(name))), casesMark)
}

func readCases(s source, file string) (*trial.Suite, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxDefinition {
		return nil, fmt.Errorf("%s: has more than %d MiB", file, maxDefinition>>20)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	plan, fields := dag.ParsePlan(s.text, s.format)
	if len(fields) > 0 {
		return nil, &fieldErrors{source: s.name, fields: fields}
	}
	format := "yaml"
	if strings.EqualFold(filepath.Ext(file), ".json") {
		format = "json"
	}
	cases, fields := trial.Read(text, format, plan)
	if len(fields) > 0 {
		return nil, &fieldErrors{source: file, fields: fields}
	}
	return cases, nil
}

// trialRun runs the chosen cases, and counts them.
func trialRun(suites []suite, chosen *regexp.Regexp) (results []tested, failed, ran int) {
	for _, s := range suites {
		t := tested{File: s.source.name, CasesOf: s.file, Workflow: s.source.def.Name}
		for i := range s.cases.Cases {
			if !chosen.MatchString(s.cases.Cases[i].Name) {
				continue
			}
			out := s.cases.Run(i)
			ran++
			if !out.Passed() {
				failed++
			}
			t.Cases = append(t.Cases, out)
		}
		results = append(results, t)
	}
	return results, failed, ran
}

// showTested prints a line per case, and below a failed one what came otherwise.
func (c *cli) showTested(results []tested, verbose bool, ran, failed int) error {
	if c.output == "json" {
		return c.json(results)
	}
	var b strings.Builder
	for _, t := range results {
		for i := range t.Cases {
			o := &t.Cases[i]
			word := "ok  "
			if !o.Passed() {
				word = "FAIL"
			}
			fmt.Fprintf(&b, "%s  %s: %s\n", word, printable(t.Workflow), printable(o.Name))
			if verbose {
				showHistory(&b, o.History)
			}
			for _, f := range o.Failures {
				fmt.Fprintf(&b, "      %s:%d:%d: %s\n        expected %s\n        got      %s\n", t.CasesOf, f.Line, f.Column, printable(f.Field), printable(f.Expected), printable(f.Got))
				if f.Hint != "" {
					fmt.Fprintf(&b, "        %s\n", printable(f.Hint))
				}
			}
		}
	}
	fmt.Fprintf(&b, "%d passed, %d failed\n", ran-failed, failed)
	_, err := fmt.Fprint(c.out, b.String())
	return err
}

func showHistory(b *strings.Builder, history []trial.Moment) {
	for _, m := range history {
		who := "instance"
		if m.Task != "" {
			who = m.Task
		}
		if m.Attempt > 0 {
			who += fmt.Sprintf("/%d", m.Attempt)
		}
		parts := []string{fmt.Sprintf("%8s  %s %s", time.Duration(m.At), who, m.State), string(m.Reason), m.Message}
		line := strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
		fmt.Fprintf(b, "      %s\n", printable(line))
	}
}
