package docs_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

// page is one document; path is relative to the module's root.
type page struct{ path, text string }

// pages reads all documents of ours.
func pages(t *testing.T) []page {
	t.Helper()
	var list []page
	for _, pattern := range []string{"../*.md", "*.md", "adr/*.md", "../deploy/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, page{filepath.ToSlash(filepath.Join("docs", path)), string(text)})
		}
	}
	if len(list) < 10 {
		t.Fatalf("only %d documents found", len(list))
	}
	return list
}

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// TestWorkflowsInTheDocumentsAreAccepted parses every YAML block that begins with name:.
func TestWorkflowsInTheDocumentsAreAccepted(t *testing.T) {
	t.Parallel()
	parsed := 0
	for _, p := range pages(t) {
		for _, block := range yamlBlock.FindAllStringSubmatch(p.text, -1) {
			if !strings.HasPrefix(block[1], "name:") {
				continue
			}
			parsed++
			if _, wrong := dag.Parse([]byte(block[1]), "yaml"); len(wrong) > 0 {
				t.Errorf("%s: a workflow is refused: %v\n%s", p.path, wrong, block[1])
			}
		}
	}
	if parsed < 8 {
		t.Errorf("%d workflows found in the documents, there should be more", parsed)
	}
}

// TestEveryTaskTypeAndKeyIsInTheReference holds docs/workflow.md to the schema.
func TestEveryTaskTypeAndKeyIsInTheReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("workflow.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range dag.TaskTypes() {
		if !strings.Contains(string(text), "\n### "+name+"\n") {
			t.Errorf("docs/workflow.md has no part about the task type %s", name)
		}
	}
	var schema any
	if err := json.Unmarshal(dag.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, name := range keysOf(schema) {
		if !regexp.MustCompile("[`.]" + name + "[`:.]").Match(text) {
			t.Errorf("docs/workflow.md does not name the key %s", name)
		}
	}
}

// keysOf lists the names of all properties in a schema, each once.
func keysOf(schema any) []string {
	found := map[string]bool{}
	var walk func(any)
	walk = func(part any) {
		switch part := part.(type) {
		case map[string]any:
			if properties, ok := part["properties"].(map[string]any); ok {
				for name := range properties {
					found[name] = true
				}
			}
			for _, inner := range part {
				walk(inner)
			}
		case []any:
			for _, inner := range part {
				walk(inner)
			}
		}
	}
	walk(schema)
	return slices.Sorted(maps.Keys(found))
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestRelativeLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(p.text, -1) {
			target, _, _ := strings.Cut(found[1], "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", filepath.Dir(p.path), target)); err != nil {
				t.Errorf("%s links to %s: %v", p.path, target, err)
			}
		}
	}
}

var testName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]+`)

func TestTestsThatAreNamedExist(t *testing.T) {
	t.Parallel()
	known := names(t)
	for _, p := range pages(t) {
		for _, name := range testName.FindAllString(p.text, -1) {
			if !known.functions[name] {
				t.Errorf("%s names the test %s, which is nowhere", p.path, name)
			}
		}
	}
}

var (
	method   = regexp.MustCompile("`([a-z]+)\\.\\(\\*([A-Za-z]+)\\)\\.([A-Za-z]+)`")
	subtests = regexp.MustCompile("cases? `[A-Z][A-Za-z]+`(?:(?:,| and) `[A-Z][A-Za-z]+`)*")
	subtest  = regexp.MustCompile("`([A-Z][A-Za-z]+)`")
)

// TestFunctionsThatAreNamedExist finds every `package.(*Type).Method` that a document names.
func TestFunctionsThatAreNamedExist(t *testing.T) {
	t.Parallel()
	known := names(t)
	for _, p := range pages(t) {
		for _, m := range method.FindAllStringSubmatch(p.text, -1) {
			if !known.methods[m[1]+"."+m[2]+"."+m[3]] {
				t.Errorf("%s names %s, which is nowhere", p.path, m[0])
			}
		}
		for _, group := range subtests.FindAllString(p.text, -1) {
			for _, m := range subtest.FindAllStringSubmatch(group, -1) {
				if !known.texts[`"`+m[1]+`"`] {
					t.Errorf("%s names the case %s, which is in no test suite", p.path, m[1])
				}
			}
		}
	}
}

var stories = regexp.MustCompile("(?:story|stories) `[a-z_]+`(?:(?:,| and) `[a-z_]+`)*")

// TestStoriesThatAreNamedExist holds documents to the files of the core's stories.
func TestStoriesThatAreNamedExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`([a-z_]+)`")
	for _, p := range pages(t) {
		for _, group := range stories.FindAllString(p.text, -1) {
			for _, m := range named.FindAllStringSubmatch(group, -1) {
				if _, err := os.Stat(filepath.Join("..", "dag", "testdata", m[1]+".txt")); err != nil {
					t.Errorf("%s names the story %s, which is nowhere", p.path, m[1])
				}
			}
		}
	}
}

// index is what the module's source has of names.
type index struct {
	functions map[string]bool // of tests
	methods   map[string]bool // package.Type.Method
	texts     map[string]bool // string literals of test suites
}

func names(t *testing.T) index {
	t.Helper()
	all, err := readNames()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var readNames = sync.OnceValues(func() (index, error) {
	all := index{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all.read(path, file)
		return nil
	})
	return all, err
})

func (all index) read(path string, file *ast.File) {
	suite := strings.Contains(path, "test")
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			switch {
			case n.Recv != nil:
				all.methods[file.Name.Name+"."+receiver(n.Recv.List[0].Type)+"."+n.Name.Name] = true
			case strings.HasSuffix(path, "_test.go"):
				all.functions[n.Name.Name] = true
			}
		case *ast.BasicLit:
			if suite && n.Kind == token.STRING {
				all.texts[n.Value] = true
			}
		}
		return true
	})
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestJourneysThatTheConsolePromisesExist holds the table of docs/console.md to the journeys in a browser: thirty rows, and
// each name in them is the beginning of a journey's.
func TestJourneysThatTheConsolePromisesExist(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../ui/e2e/journeys/*.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no journeys found: %v", err)
	}
	named := regexp.MustCompile(`(?m)^  "([^"]+)":\s`)
	var journeys []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range named.FindAllStringSubmatch(string(text), -1) {
			journeys = append(journeys, found[1])
		}
	}
	text, err := os.ReadFile("console.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## What a browser proves\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		rows++
		if want := fmt.Sprint(rows); rows <= 30 && strings.TrimSpace(cells[1]) != want {
			t.Errorf("row %d of the journeys is numbered %q", rows, cells[1])
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[3], -1) {
			if !slices.ContainsFunc(journeys, func(j string) bool { return strings.HasPrefix(j, name[1]) }) {
				t.Errorf("docs/console.md names the journey %q, which is in none of ui/e2e/journeys", name[1])
			}
		}
	}
	if rows < 30 {
		t.Errorf("docs/console.md has %d journeys, not 30", rows)
	}
}
