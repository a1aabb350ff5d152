package house

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"
)

// floors are the rooms from the ground up. A room may import itself and lower floors.
var floors = map[string]int{
	"internal/failpoint": -1, // one line of it may stand anywhere
	"internal/egress":    0,
	"internal/clocks":    0,
	"dag":                0, "registry": 0, "ui": 0,
	"examples": 1,              // their tests run them by dag/trial
	"docs":     3, "deploy": 3, // their tests hold documents and installations to the code
	"sql": 1, "internal/rpc": 1, "internal/guard": 1, "internal/lean": 1, "internal/ended": 1, "internal/flood": 1, "internal/dolphin": 1, "internal/webhook": 1,
	"master": 2, "worker": 2, "apiserver": 2,
	"cmd":            3,
	"bench":          4, // it measures what cmd builds, and calls by its client
	"internal/house": 5,
}

// room is the room that a folder is in, "" where the house has none.
func room(dir string) string {
	for name := range floors {
		if dir == name || strings.HasPrefix(dir, name+"/") {
			return name
		}
	}
	return ""
}

func TestImportsOnlyGoDown(t *testing.T) {
	t.Parallel()
	eachImport(t, func(s *source, from, dir, target string) {
		to := room(target)
		switch {
		case from == "":
			t.Errorf("%s is in no room of the house", s.path)
		case to == "":
			t.Errorf("%s imports %s, which is in no room", s.path, target)
		case from != to && floors[to] >= floors[from]:
			t.Errorf("%s (%s, floor %d) imports %s (floor %d): imports only go down, siblings meet one floor up", s.path, dir, floors[from], target, floors[to])
		}
	})
}

// TestLoopsOfTheMasterDoNotKnowEachOther holds master's rooms apart: each loop names what
// it needs, and master itself joins them.
func TestLoopsOfTheMasterDoNotKnowEachOther(t *testing.T) {
	t.Parallel()
	eachImport(t, func(s *source, _, dir, target string) {
		from, ok := strings.CutPrefix(dir, "master/")
		to, inside := strings.CutPrefix(target, "master/")
		if ok && inside && firstPart(from) != firstPart(to) {
			t.Errorf("%s imports %s: parts of the master never import each other", s.path, target)
		}
	})
}

// TestGoroutinesOfTheMasterAreGuarded finds goroutines of a master that a panic would end, and the
// whole process with them. What a goroutine runs is either made by guard.Loop or calls it or guard.Do.
func TestGoroutinesOfTheMasterAreGuarded(t *testing.T) {
	t.Parallel()
	guarded := 0
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.dir, "master") || s.test() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			var started ast.Node
			switch n := n.(type) {
			case *ast.GoStmt:
				started = n.Call
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" {
					started = n
				}
			}
			if started == nil {
				return true
			}
			found := false
			ast.Inspect(started, func(n ast.Node) bool {
				if f, ok := n.(*ast.SelectorExpr); ok {
					room, named := f.X.(*ast.Ident)
					found = found || named && room.Name == "guard"
				}
				return true
			})
			if !found {
				t.Errorf("%s starts a goroutine that a panic would end with the process: run it under internal/guard", s.path)
			}
			guarded++
			return true
		})
	}
	if guarded < 10 {
		t.Errorf("only %d goroutines found: the test is out of date", guarded)
	}
}

// TestTaskTypesDoNotKnowEachOther is the same for the worker's task types.
func TestTaskTypesDoNotKnowEachOther(t *testing.T) {
	t.Parallel()
	eachImport(t, func(s *source, _, dir, target string) {
		from, ok := strings.CutPrefix(dir, "worker/task/")
		to, inside := strings.CutPrefix(target, "worker/task/")
		if ok && inside && !s.test() && firstPart(from) != firstPart(to) {
			t.Errorf("%s imports %s: task types never import each other", s.path, target)
		}
	})
}

func firstPart(dir string) string {
	part, _, _ := strings.Cut(dir, "/")
	return part
}

// eachImport visits every import of one package of ours by another.
func eachImport(t *testing.T, visit func(s *source, from, dir, target string)) {
	t.Helper()
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if target, ours := strings.CutPrefix(path, module+"/"); ours {
				visit(s, room(s.dir), s.dir, target)
			}
		}
	}
}

func TestNoPackageIsADrawer(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		switch name := strings.TrimSuffix(s.file.Name.Name, "_test"); name {
		case "util", "utils", "common", "helper", "helpers", "model", "models", "types", "manager", "base", "impl", "pkg":
			t.Errorf("%s: package %s says nothing: name what is in it", s.path, name)
		}
	}
}

// TestTheCoreIsPure holds dag to its promise: no clock, no I/O, no chance.
func TestTheCoreIsPure(t *testing.T) {
	t.Parallel()
	forbidden := map[string]bool{
		"os": true, "net": true, "net/http": true, "io/fs": true, "math/rand": true, "math/rand/v2": true, "crypto/rand": true,
		"sync": true, "log": true, "context": true, "os/exec": true, "database/sql": true,
	}
	for _, s := range sources(t) {
		if s.dir != "dag" && s.dir != "dag/trial" || s.test() {
			continue
		}
		for _, spec := range s.file.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); forbidden[path] {
				t.Errorf("%s imports %s: the core reads nothing but its arguments", s.path, path)
			}
		}
		if strings.Contains(s.text, "time.Now(") {
			t.Errorf("%s reads the clock", s.path)
		}
	}
}
