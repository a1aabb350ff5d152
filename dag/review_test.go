package dag

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// warned writes the warnings of a text as field, code and what args say.
func warned(t *testing.T, text string) []string {
	t.Helper()
	r := ReviewText([]byte(text), "yaml")
	if len(r.Errors) > 0 {
		t.Fatalf("%v in %s", r.Errors, text)
	}
	var out []string
	for _, w := range r.Warnings {
		if w.Line == 0 || w.Message == "" || w.Args["task"] == nil {
			t.Errorf("warning %+v has no place, words or task", w)
		}
		out = append(out, w.Field+" "+w.Code+" "+w.Value)
	}
	return out
}

func TestScriptsThatUseWhatNothingSetsAreWarnedOf(t *testing.T) {
	t.Parallel()
	const head = "name: w\nparams: {day: x}\ntasks:\n  - {name: a, type: noop}\n  - name: b\n    needs: [a]\n    params: {own: y}\n    env: {Mine: z}\n"
	for script, want := range map[string]string{
		`echo ${dya}`:                                "dya",
		`echo "${day} ${own} ${Mine}"`:               "",
		`echo ${system_biz_date} ${PORPOISE_FENCE}`:  "",
		`echo ${HOME} ${RANDOM} ${NOT_OURS}`:         "",
		`dya=1; echo ${dya}`:                         "",
		`for dya in 1 2; do echo ${dya}; done`:       "",
		`read -r dya; echo ${dya}`:                   "",
		`echo ${dya:-none}`:                          "",
		`. ./settings; echo ${dya}`:                  "",
		`source settings && echo ${dya}`:             "",
		`eval "$x"; echo ${dya}`:                     "",
		`echo ${dya} ${dya}`:                         "dya",
		`echo $dya`:                                  "",
		`echo mydya; echo ${dya}`:                    "dya",
		`echo '#{setValue(x=1)}' '${setValue(y=2)}'`: "",
	} {
		text := head + "    type: shell\n    script: " + strconv.Quote(script) + "\n"
		var wanted []string
		if want != "" {
			wanted = []string{"tasks[1].script unknown_variable " + want}
		}
		if got := warned(t, text); !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s: %v, want %v", script, got, wanted)
		}
	}
	if got := warned(t, head+"    type: shell\n    interpreter: perl\n    script: print ${dya}\n"); got != nil {
		t.Errorf("perl: %v", got)
	}
	python := "import os\nprint(os.environ[\"day\"], os.environ['dya'], os.environ[\"LANG\"])\nos.environ[\"there\"] = 'x'\nprint(os.environ['there'])\n"
	got := warned(t, head+"    type: python\n    script: "+strconv.Quote(python)+"\n")
	if want := []string{"tasks[1].script unknown_variable dya"}; !reflect.DeepEqual(got, want) {
		t.Errorf("python: %v, want %v", got, want)
	}
}

func TestOutputsOfTasksAboveAreNoUnknownVariables(t *testing.T) {
	t.Parallel()
	got := warned(t, `
name: w
tasks:
  - {name: a, type: shell, script: x, outputs: [rows]}
  - {name: b, type: shell, script: 'echo ${rows}', needs: [a]}
  - {name: c, type: shell, script: 'echo ${rows}'}
`)
	if want := []string{"tasks[2].script unknown_variable rows"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWhatHasNoEffectIsWarnedOf(t *testing.T) {
	t.Parallel()
	got := warned(t, `
name: w
tasks:
  - {name: a, type: noop, outputs: [x], env: {A: b}}
  - {name: b, type: wait, for: 1s, worker_group: g, worker_labels: {zone: eu}, working_dir: /srv}
  - {name: c, type: noop, needs: [b]}
`)
	want := []string{
		"tasks[0] no_effect a", "tasks[0].outputs no_effect ", "tasks[0].env no_effect ",
		"tasks[1].worker_group no_effect ", "tasks[1].worker_labels no_effect ", "tasks[1].working_dir no_effect ",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := warned(t, "name: w\ntasks:\n  - {name: a, type: noop}\n"); got != nil {
		t.Errorf("one noop alone: %v", got)
	}
}

func TestErrorsOfTheGraphNameItsTasks(t *testing.T) {
	t.Parallel()
	r := ReviewText([]byte(`
name: w
tasks:
  - {name: a, type: noop, needs: [c]}
  - {name: b, type: noop, needs: [a]}
  - {name: c, type: noop, needs: [b, nobody, c]}
`), "yaml")
	args := map[string]Args{}
	for _, e := range r.Errors {
		args[e.Code] = e.Args
		if e.Line == 0 {
			t.Errorf("%+v has no place", e)
		}
	}
	if got := fmt.Sprint(args[CodeCycle]["tasks"]); got != "[a c b a]" && got != "[a b c a]" {
		t.Errorf("circle %v", args[CodeCycle])
	}
	if !reflect.DeepEqual(args[CodeUnknownTask], Args{"task": "c", "need": "nobody"}) || !reflect.DeepEqual(args[CodeSelfLoop], Args{"task": "c", "need": "c"}) {
		t.Errorf("args %v", args)
	}
}

// TestEveryCodeIsInTheListAndInTheDocument compares the constants, the list and the table.
func TestEveryCodeIsInTheListAndInTheDocument(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	text, err := os.ReadFile("../docs/workflow.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Codes() {
		listed[c.Code] = true
		kind, args := "error", c.Args
		if c.Warning {
			kind = "warning"
		}
		if args != "" {
			args = "`" + strings.ReplaceAll(args, ", ", "` `") + "`"
		}
		if row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", c.Code, kind, c.Meaning, args); !strings.Contains(string(text), row) {
			t.Errorf("docs/workflow.md lacks the row\n%s", row)
		}
	}
	for _, file := range []string{"code.go", "review.go", "document/fielderror.go"} {
		f, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(v.Names[0].Name, "Code") {
				return true
			}
			code, _ := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if !listed[code] {
				t.Errorf("%s: %s is not in Codes", file, v.Names[0].Name)
			}
			return true
		})
	}
}
