package dag

import (
	"encoding/json"
	"os"
	"testing"
)

// findingsFile is read by the console's tests too: what it checks by itself must be
// what Parse finds, at the same fields.
const findingsFile = "testdata/findings.json"

type findingsOf struct {
	Name     string    `json:"name"`
	Text     string    `json:"text"`
	Findings []finding `json:"findings"`
}

type finding struct {
	Field string `json:"field"`
	Code  string `json:"code"`
	Value string `json:"value,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// maxListedText keeps texts that only test a limit out of the file.
const maxListedText = 8 << 10

func TestFindingsOfWrongTextsAreListedForTheConsole(t *testing.T) {
	t.Parallel()
	list := []findingsOf{}
	for _, one := range wrongTexts {
		if len(one.text) > maxListedText {
			continue
		}
		of := findingsOf{Name: one.name, Text: one.text, Findings: []finding{}}
		_, errs := Parse([]byte(one.text), "yaml")
		for _, e := range errs {
			of.Findings = append(of.Findings, finding{Field: e.Field, Code: e.Code, Value: e.Value, Line: e.Line})
		}
		list = append(list, of)
	}
	got, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(findingsFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(findingsFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s reads differently; go test ./dag -run TestFindings -update, then git diff\n%s", findingsFile, firstDiff(string(want), string(got)))
	}
}
