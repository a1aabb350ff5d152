package site

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// passing has a task whose two attempts must both find what the first task left, and which, where there are two workers,
// has them on both.
const passing = `name: passing
tasks:
  - name: extract
    type: shell
    artifacts: [report.csv, parts/]
    script: |
      printf 'a\0b' > "$PORPOISE_ARTIFACTS/report.csv"
      mkdir -p "$PORPOISE_ARTIFACTS/parts/deep"
      head -c 3000000 /dev/zero > "$PORPOISE_ARTIFACTS/parts/deep/big"
      : > "$PORPOISE_ARTIFACTS/parts/empty"
      echo left > "$PORPOISE_ARTIFACTS/not declared"
  - name: join
    type: shell
    needs: [extract]
    uses: [extract/report.csv, extract/parts/]
    artifacts: [size]
    retry: {times: 1, delay: 0s, elsewhere: true, on_exit_codes: [7]}
    script: |
      cd "$PORPOISE_INPUTS/extract" || exit 1
      test "$(tr '\0' '-' < report.csv)" = a-b || exit 2
      test -f parts/empty || exit 3
      test ! -e "not declared" || exit 4
      test "$PORPOISE_ATTEMPT" = 2 || exit 7
      wc -c < parts/deep/big > "$PORPOISE_ARTIFACTS/size"
`

func passFiles(ctx context.Context, t *testing.T, s *Site) {
	save(ctx, t, s.Client, "passing", passing)
	id, err := s.Client.StartWorkflow(ctx, "p", "passing", client.Start{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Client.Wait(ctx, id, nil)
	if err != nil || in.State != dag.InstanceSuccess {
		tasks, _ := s.Client.Tasks(ctx, id)
		t.Fatalf("the instance is %s (%s), %v; its tasks are %+v", in.State, in.Reason, err, tasks)
	}
	attempts, err := s.Client.Attempts(ctx, id, "join")
	if err != nil || len(attempts) != 2 || attempts[1].ExitCode != 7 {
		t.Fatalf("attempts of join = %+v, %v", attempts, err)
	}
	if workers, err := s.Client.Workers(ctx); err != nil || len(workers) > 1 && attempts[0].Worker == attempts[1].Worker {
		t.Errorf("both attempts ran on %s, %v", attempts[0].Worker, err)
	}
	files, err := s.Client.Artifacts(ctx, id, "extract", 1)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "report.csv parts/deep/big parts/empty" {
		t.Errorf("extract has left %q", got)
	}
	var data bytes.Buffer
	if err := s.Client.DownloadArtifact(ctx, &data, id, "extract", 1, "parts/deep/big"); err != nil || data.Len() != 3_000_000 {
		t.Errorf("downloaded %d bytes, %v", data.Len(), err)
	}
	size, err := porpoise(ctx, s, "artifacts", id, "join", "size").Output()
	if err != nil || strings.TrimSpace(string(size)) != "3000000" {
		t.Errorf("porpoise artifacts says %q, %v", size, err)
	}
	list, err := porpoise(ctx, s, "artifacts", id, "extract").Output()
	if err != nil || !strings.Contains(string(list), "parts/deep/big") {
		t.Errorf("porpoise artifacts lists %q, %v", list, err)
	}
}

// TestFilesGoFromTaskToTask runs tasks that leave files and use them, and some that don't do what they declare.
func TestFilesGoFromTaskToTask(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := standalone(ctx, t)
	passFiles(ctx, t, s)

	save(ctx, t, s.Client, "wrong", `name: wrong
tasks:
  - {name: lacks, type: shell, allow_failure: true, artifacts: [report.csv], script: 'true'}
  - {name: links, type: shell, allow_failure: true, artifacts: [x], script: 'ln -s /etc/passwd "$PORPOISE_ARTIFACTS/x"'}
  - {name: large, type: shell, allow_failure: true, artifacts: [x], script: 'truncate -s 65M "$PORPOISE_ARTIFACTS/x"'}
  - {name: uses, type: shell, needs: [lacks], allow_failure: true, uses: [lacks/report.csv], script: 'echo it ran'}
`)
	id, err := s.Client.StartWorkflow(ctx, "p", "wrong", client.Start{})
	if err != nil {
		t.Fatal(err)
	}
	if in, err := s.Client.Wait(ctx, id, nil); err != nil || in.State != dag.InstanceSuccess {
		t.Fatalf("the instance is %s (%s), %v", in.State, in.Reason, err)
	}
	for name, want := range map[string][2]string{
		"lacks": {"artifact_missing", `"report.csv"`},
		"links": {"artifact_refused", "no plain file"},
		"large": {"artifact_refused", "64 MiB"},
		"uses":  {"input_missing", `"lacks/report.csv"`},
	} {
		attempts, err := s.Client.Attempts(ctx, id, name)
		if err != nil || len(attempts) != 1 || string(attempts[0].Reason) != want[0] || !strings.Contains(attempts[0].Message, want[1]) {
			t.Errorf("attempts of %s are %+v, %v; want %q", name, attempts, err, want)
		}
	}
	err = s.Client.DownloadArtifact(ctx, &bytes.Buffer{}, id, "lacks", 1, "report.csv")
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status != http.StatusNotFound {
		t.Errorf("an artifact that is not there: %v, want 404", err)
	}
	var exit *exec.ExitError
	if _, err := porpoise(ctx, s, "artifacts", id, "lacks").Output(); !errors.As(err, &exit) || !strings.Contains(string(exit.Stderr), "has left no artifacts") {
		t.Errorf("porpoise artifacts of a task without: %v", err)
	}
}
