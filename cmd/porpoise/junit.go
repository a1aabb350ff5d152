package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// junitSuites is the form of test results that build servers read. A suite is a workflow.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	File     string      `xml:"file,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes results to a file.
func writeJUnit(file string, results []tested) error {
	var all junitSuites
	for _, t := range results {
		s := junitSuite{Name: t.Workflow, File: t.CasesOf, Tests: len(t.Cases)}
		for i := range t.Cases {
			o := &t.Cases[i]
			one := junitCase{Name: o.Name, Class: t.Workflow, File: t.CasesOf, Line: o.Line}
			if !o.Passed() {
				s.Failures++
				one.Failure = &junitFailure{Message: o.Failures[0].Field}
				var lines []string
				for _, f := range o.Failures {
					lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s:%d: %s: expected %s, got %s. %s", t.CasesOf, f.Line, f.Field, f.Expected, f.Got, f.Hint)))
				}
				one.Failure.Text = strings.Join(lines, "\n")
			}
			s.Cases = append(s.Cases, one)
		}
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Suites = append(all.Suites, s)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.WriteFile(file, append([]byte(xml.Header), append(text, '\n')...), 0o644)
}
