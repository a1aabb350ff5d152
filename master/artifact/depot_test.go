package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// taken is what an intake puts where; the store itself is tested by its own suite.
type taken struct {
	Store
	chunks map[string][]byte
}

func (s *taken) PutArtifactChunk(_ context.Context, _ sql.Bearer, number, chunk int, data []byte) error {
	s.chunks[fmt.Sprintf("%d.%d", number, chunk)] = bytes.Clone(data)
	return nil
}

func whole(name, content string) []*rpc.ArtifactPart {
	sum := sha256.Sum256([]byte(content))
	return []*rpc.ArtifactPart{{Name: name}, {Data: []byte(content)}, {Sha256: sum[:]}}
}

func TestFilesAreCutIntoChunks(t *testing.T) {
	t.Parallel()
	s := &taken{chunks: map[string][]byte{}}
	in := &intake{store: s}
	part := strings.Repeat("x", 300<<10)
	sum := sha256.New()
	if err := in.take(t.Context(), &rpc.ArtifactPart{Attempt: &rpc.AttemptID{}, Name: "a"}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		sum.Write([]byte(part))
		if err := in.take(t.Context(), &rpc.ArtifactPart{Data: []byte(part)}); err != nil {
			t.Fatal(err)
		}
	}
	parts := append([]*rpc.ArtifactPart{{Sha256: sum.Sum(nil)}}, whole("b/c", "yz")...)
	for _, p := range append(parts, whole("empty", "")...) {
		if err := in.take(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.chunks) != 3 || len(s.chunks["0.0"]) != sql.MaxArtifactChunk || len(s.chunks["0.1"]) != 1500<<10-sql.MaxArtifactChunk || string(s.chunks["1.0"]) != "yz" {
		t.Errorf("%d chunks: %d %d %q", len(s.chunks), len(s.chunks["0.0"]), len(s.chunks["0.1"]), s.chunks["1.0"])
	}
	if len(in.files) != 3 || in.files[0].Size != 1500<<10 || in.files[1].Name != "b/c" || in.files[2].Size != 0 || len(in.files[2].SHA256) != 64 {
		t.Errorf("files are %+v", in.files)
	}
}

func TestAStreamOfFilesIsRefused(t *testing.T) {
	t.Parallel()
	many := func() (parts []*rpc.ArtifactPart) {
		for i := range dag.MaxArtifacts + 1 {
			parts = append(parts, whole(fmt.Sprint(i), "")...)
		}
		return parts
	}
	large := []*rpc.ArtifactPart{{Name: "a"}}
	for range dag.MaxArtifactBytes>>20 + 1 {
		large = append(large, &rpc.ArtifactPart{Data: make([]byte, 1<<20)})
	}
	for name, c := range map[string]struct {
		parts []*rpc.ArtifactPart
		want  string
	}{
		"a way out":       {whole("../x", ""), "no .. in it"},
		"an absolute way": {whole("/etc/passwd", ""), "absolute"},
		"a folder":        {whole("x/", ""), "folder"},
		"twice":           {append(whole("x", ""), whole("x", "")...), "twice"},
		"one in another":  {[]*rpc.ArtifactPart{{Name: "a"}, {Name: "b"}}, "begins within"},
		"no file":         {[]*rpc.ArtifactPart{{Data: []byte("x")}}, "no file"},
		"the end of none": {[]*rpc.ArtifactPart{{Sha256: []byte("x")}}, "no file"},
		"too many":        {many(), "at most 100 files"},
		"too large":       {large, "64 MiB"},
	} {
		in := &intake{store: &taken{chunks: map[string][]byte{}}}
		var err error
		for _, p := range c.parts {
			if err == nil {
				err = in.take(t.Context(), p)
			}
		}
		if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	in := &intake{store: &taken{chunks: map[string][]byte{}}}
	err := in.take(t.Context(), &rpc.ArtifactPart{Name: "a", Data: []byte("x"), Sha256: make([]byte, 32)})
	if err == nil || errors.Is(err, errRefused) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v, want an error after which it is sent again", err)
	}
}
