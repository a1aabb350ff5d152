package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxFileLines is where a file has more than one idea.
const maxFileLines = 600

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if n := strings.Count(s.text, "\n"); n > maxFileLines && !s.gen {
			t.Errorf("%s has %d lines, the limit is %d", s.path, n, maxFileLines)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	docs := map[string][]string{}
	for _, s := range sources(t) {
		if strings.HasSuffix(s.file.Name.Name, "_test") || strings.HasSuffix(s.dir, "/gen") {
			continue
		}
		if _, seen := docs[s.dir]; !seen {
			docs[s.dir] = nil
		}
		if s.file.Doc != nil && !s.test() && !s.gen {
			docs[s.dir] = append(docs[s.dir], strings.TrimSpace(s.file.Doc.Text()))
		}
	}
	for dir, texts := range docs {
		if len(texts) != 1 {
			t.Errorf("%s has %d package comments, want 1", dir, len(texts))
			continue
		}
		lines := strings.Count(texts[0], "\n") + 1
		if lines < 3 || lines > 14 {
			t.Errorf("%s: the package comment has %d lines, want 3 to 10 of text: what it owns, what it never does, who uses it", dir, lines)
		}
	}
}

func TestEveryExportedNameIsExplained(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test() || s.gen || s.file.Name.Name == "main" {
			continue
		}
		for _, decl := range s.file.Decls {
			for _, problem := range undocumented(decl) {
				t.Errorf("%s: %s", s.path, problem)
			}
		}
	}
}

// undocumented lists the exported names of a declaration that lack a sentence that
// begins with them. Of a group of constants or variables one comment is enough.
func undocumented(decl ast.Decl) []string {
	var wrong []string
	check := func(name string, docs ...*ast.CommentGroup) {
		if !ast.IsExported(name) {
			return
		}
		for _, doc := range docs {
			if text := strings.TrimSpace(doc.Text()); strings.HasPrefix(text, name+" ") || strings.HasPrefix(text, "Deprecated:") {
				return
			}
		}
		wrong = append(wrong, fmt.Sprintf("%s has no sentence that starts with its name", name))
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
			check(d.Name.Name, d.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch sp := spec.(type) {
			case *ast.TypeSpec:
				check(sp.Name.Name, sp.Doc, d.Doc)
			case *ast.ValueSpec:
				if d.Lparen.IsValid() && d.Doc != nil || sp.Comment != nil {
					continue
				}
				for _, name := range sp.Names {
					check(name.Name, sp.Doc, d.Doc)
				}
			}
		}
	}
	return wrong
}

func receiver(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// TestTestsDoNotSleep keeps the tests quick and honest: what is waited for has a signal,
// or a clock of its own (testing/synctest).
func TestTestsDoNotSleep(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if !s.test() && !strings.Contains(s.dir, "test") {
			continue
		}
		bubble := strings.Contains(s.text, `"testing/synctest"`)
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok || call.Sel.Name != "Sleep" {
				return true
			}
			if x, ok := call.X.(*ast.Ident); ok && x.Name == "time" && !bubble {
				t.Errorf("%s sleeps by the real clock: wait for a signal with a deadline", s.path)
			}
			return true
		})
	}
}

// private are words of machines on which this was written: they mean nothing to who
// reads it elsewhere. They are put together here so that this file may be read, too; the
// project's own docs have one page of such a name.
var private = regexp.MustCompile(`(?i)(^|[^\w.])/` + `work/|\.\./` + `shared|design` + `\.md|style` + `\.md|reliability` + `\.md|stack` + `\.md|(^|[^/\w])performance` + `\.md`)

// suspicious spares most lines the expression, which is slow under the race detector.
func suspicious(line string) bool {
	line = strings.ToLower(line)
	return strings.Contains(line, "/") && (strings.Contains(line, "work") || strings.Contains(line, "shared")) || strings.Contains(line, ".md")
}

func TestFilesSpeakOfTheProjectAlone(t *testing.T) {
	t.Parallel()
	base := root(t)
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != base && (name == ".git" || name == "node_modules" || name == "bin" || name == "porpoise-data") {
				return filepath.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err != nil || !d.Type().IsRegular() || info.Size() > 1<<20 || d.Name() == ".git" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if !suspicious(line) {
				continue
			}
			if found := private.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is a place outside of the project", path, i+1, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestImportsAreInThreeGroups is standard library, others, ours.
func TestImportsAreInThreeGroups(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.gen {
			continue
		}
		last := 0
		for _, spec := range s.file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			group := importGroup(path)
			if spec.Name != nil && spec.Name.Name == "stdsql" {
				continue // the standard library's sql beside ours, set apart on purpose
			}
			if group < last {
				t.Errorf("%s: %s comes after a later group: standard library, others, ours", s.path, path)
			}
			last = max(last, group)
		}
	}
}

func importGroup(path string) int {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case path == module || strings.HasPrefix(path, module+"/"):
		return 3
	case strings.Contains(first, "."):
		return 2
	default:
		return 1
	}
}

// constantsOf lists the values of a string type's constants in a package.
func constantsOf(t *testing.T, dir, typeName string) []string {
	t.Helper()
	var values []string
	for _, s := range sources(t) {
		if s.dir != dir || s.test() {
			continue
		}
		for _, decl := range s.file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for _, spec := range d.Specs {
				v := spec.(*ast.ValueSpec)
				if id, ok := v.Type.(*ast.Ident); !ok || id.Name != typeName || len(v.Values) != 1 {
					continue
				}
				if lit, ok := v.Values[0].(*ast.BasicLit); ok {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, text)
				}
			}
		}
	}
	return values
}

// TestNamesListsTheStatesOfTheCode compares docs/NAMES.md, which people read, with dag.
func TestNamesListsTheStatesOfTheCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "NAMES.md"))
	if err != nil {
		t.Fatal(err)
	}
	for typeName, row := range map[string]string{"InstanceState": "instance", "TaskState": "task", "AttemptState": "attempt"} {
		want := constantsOf(t, "dag", typeName)
		found := regexp.MustCompile(`(?m)^\| ` + row + ` states \| (.*) \|$`).FindSubmatch(text)
		if found == nil {
			t.Errorf("docs/NAMES.md has no row of the states of %s", row)
			continue
		}
		got := regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(string(found[1]), -1)
		var words []string
		for _, w := range got {
			words = append(words, w[1])
		}
		if len(want) == 0 || !slices.Equal(words, want) {
			t.Errorf("docs/NAMES.md: states of %s are %v, the code has %v", row, words, want)
		}
	}
}
