package site

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func readFile(t *testing.T) compose {
	t.Helper()
	file, err := readCompose(filepath.Join("..", "..", composeFile))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func somePlaces() map[string]string {
	return map[string]string{
		"/data": "/tmp/data", "/secrets": "/tmp/secrets", "/join": "/tmp/join", "etcd:2379": "127.0.0.1:2379",
		httpPlace: "127.0.0.1:1", masterPlace: "127.0.0.1:2", logsPlace: "127.0.0.1:3",
		"master-1:7070": "127.0.0.1:2", "master-2:7070": "127.0.0.1:4", "apiserver:7071": "127.0.0.1:3",
		databasePlace: "mysql:root@tcp(127.0.0.1:3306)/p",
	}
}

// TestTheRolesTakeTheComposeFilesCommands holds each command of the file against the
// binary: a flag that was renamed, or a setting that is refused, is found here.
func TestTheRolesTakeTheComposeFilesCommands(t *testing.T) {
	t.Parallel()
	file := readFile(t)
	if m, w, a := file.names("master"), file.names("worker"), file.names("apiserver"); len(m) != 2 || len(w) != 2 || len(a) != 1 || len(file.names("migrate")) != 1 {
		t.Errorf("services: %v %v %v", m, w, a)
	}
	for name := range file {
		args, env, err := file.arguments(name, somePlaces())
		if err != nil {
			t.Error(err)
		}
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"config", "check"}, args...)...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestAPlaceThatIsNotReplacedIsAnError(t *testing.T) {
	t.Parallel()
	some := somePlaces()
	delete(some, masterPlace)
	if _, _, err := readFile(t).arguments("master-1", some); err == nil || !strings.Contains(err.Error(), masterPlace) {
		t.Errorf("arguments = %v", err)
	}
}

func TestFurtherServicesOfARoleAreLikeItsLast(t *testing.T) {
	t.Parallel()
	file := readFile(t)
	before := maps.Clone(file)
	if got, want := file.scale("worker", 4), []string{"worker-1", "worker-2", "worker-3", "worker-4"}; !slices.Equal(got, want) {
		t.Errorf("scale = %q, want %q", got, want)
	}
	if got := file["worker-4"].Command; !slices.Contains(got, "worker-4") || slices.Contains(got, "worker-2") {
		t.Errorf("worker-4 runs %q", got)
	}
	if !slices.Equal(before["worker-2"].Command, file["worker-2"].Command) {
		t.Errorf("worker-2 is changed: %q", file["worker-2"].Command)
	}
	if got := file.scale("master", 1); len(got) != 1 {
		t.Errorf("scale = %q, want one", got)
	}
}
