package site

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const usesSecret = `name: uses
tasks:
  - name: shows
    type: shell
    env: {DB: "user:${secret.db}"}
    script: 'echo "$DB"; printf "%s" "$DB" | base64; echo "$DB" >&2; tr "\0" " " </proc/$$/cmdline'
  - {name: gives, type: shell, may_fail: true, outputs: [a], env: {DB: "${secret.db}"}, script: 'echo "a=$DB" >"$PORPOISE_OUTPUT"'}
  - {name: lacks, type: shell, may_fail: true, retry: {times: 5, delay: 1h}, env: {DB: "${secret.none}"}, script: 'true'}
`

// TestASecretIsInNoFileOfTheNode is requirement I39: after runs that print it, give it on and go without it, and after the
// node was killed and is back, no file of its folder has the value, nor has its log.
func TestASecretIsInNoFileOfTheNode(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := standalone(ctx, t)
	save(ctx, t, s.Client, "uses", usesSecret)
	const canary = "canary-0815-4711-value"
	if _, err := s.Client.PutSecret(ctx, "p", "db", canary, ""); err != nil {
		t.Fatal(err)
	}
	id, err := s.Client.StartWorkflow(ctx, "p", "uses", client.Start{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Client.Wait(ctx, id, nil)
	if err != nil || in.State != dag.InstanceFailed {
		t.Fatalf("the instance is %s (%s), %v", in.State, in.Reason, err)
	}
	var log bytes.Buffer
	if err := s.Client.ReadLog(ctx, &log, id, "shows", 1, "", false); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Count(text, "***") < 3 || strings.Contains(text, canary) || !strings.Contains(text, "user:***\n") {
		t.Errorf("the log says %q", text)
	}
	node := s.Part("standalone")
	node.Kill()
	if err := s.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(s.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // a file that is gone holds nothing
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		files++
		for _, form := range []string{canary, "Y2FuYXJ5LTA4MTUtNDcxMS12YWx1Z", "dXNlcjpjYW5hcnktMDgxNS00NzExLXZhbHV"} {
			if bytes.Contains(text, []byte(form)) {
				t.Errorf("%s holds the value as %s", path, form)
			}
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files read, %v", files, err)
	}
}
