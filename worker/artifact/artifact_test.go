package artifact

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/porpoise/porpoise/internal/rpc"
)

func TestAFolderOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "artifacts")
	if marks, err := Marks(root); err != nil || len(marks) != 0 {
		t.Errorf("at first there are %q, %v", marks, err)
	}
	made, err := Make(root, "m", []string{"a", "b/"})
	if err != nil {
		t.Fatal(err)
	}
	if marks, err := Marks(root); err != nil || len(marks) != 1 || marks[0] != "m" {
		t.Errorf("there are %q, %v", marks, err)
	}
	found, names, err := Open(root, "m")
	if err != nil || found.Left() != made.Left() || len(names) != 2 || names[1] != "b/" {
		t.Errorf("found %v with %q, %v", found, names, err)
	}
	if err := found.Delete(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(root, "m"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("once deleted: %v", err)
	}
}

func TestInputsComeWholeAndBelowTheirTask(t *testing.T) {
	t.Parallel()
	folder, err := Make(t.TempDir(), "m", nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("content"))
	fill := func(parts ...*rpc.ArtifactPart) error {
		in, err := folder.Fill("task")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if err := in.Take(p); err != nil {
				_ = in.Close()
				return err
			}
		}
		return in.Close()
	}
	data := &rpc.ArtifactPart{Data: []byte("content")}
	for name, parts := range map[string][]*rpc.ArtifactPart{
		"nothing":        nil,
		"a way out":      {{Name: "../../x"}},
		"no end":         {{Name: "x"}, data},
		"one in another": {{Name: "x"}, {Name: "y"}},
		"no name":        {data},
		"no file":        {{Sha256: sum[:]}},
	} {
		if err := fill(parts...); err == nil || errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := fill(&rpc.ArtifactPart{Name: "x"}, &rpc.ArtifactPart{Data: []byte("contenT"), Sha256: sum[:]}); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if err := fill(&rpc.ArtifactPart{Name: "deep/x"}, data, &rpc.ArtifactPart{Sha256: sum[:]}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(folder.Inputs(), "task", "deep", "x")); err != nil || string(got) != "content" {
		t.Errorf("it holds %q, %v", got, err)
	}
}
