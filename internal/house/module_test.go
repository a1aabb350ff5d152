package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/porpoise/porpoise"

// source is one Go file of the module.
type source struct {
	path string // relative to the module's root, with slashes
	dir  string
	text string
	file *ast.File
	gen  bool
}

func (s *source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// root is the module's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// readModule reads every Go file once for all tests.
var readModule = sync.OnceValues(func() ([]*source, error) {
	var sources []*source
	base, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	err = filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != base && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		dir := "."
		if i := strings.LastIndexByte(rel, '/'); i >= 0 {
			dir = rel[:i]
		}
		sources = append(sources, &source{path: rel, dir: dir, text: string(text), file: file, gen: generatedMark.Match(text)})
		return nil
	})
	return sources, err
})

func sources(t *testing.T) []*source {
	t.Helper()
	list, err := readModule()
	if err != nil {
		t.Fatal(err)
	}
	return list
}
