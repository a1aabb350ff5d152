package site

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const journeys = `name: journey
params: {file: "", code: "0"}
tasks:
  - {name: task, type: shell, script: 'echo begun; while [ -d "${file%/*}" ] && [ ! -e "$file.go" ]; do sleep 0.02; done; echo "ends with $code"; exit $code'}
  - {name: last, type: shell, needs: [task], script: 'echo last'}
`

// journey is a person at a terminal.
type journey struct {
	*testing.T
	ctx  context.Context //nolint:containedctx // of the test that it is
	site *Site
}

// says runs a verb, demands its exit code, and returns what it printed.
func (j *journey) says(code int, args ...string) string {
	j.Helper()
	got, out, errs := finish(j.T, porpoise(j.ctx, j.site, args...))
	if got != code {
		j.Fatalf("porpoise %s = %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, errs)
	}
	return out
}

// await waits for a state that an instance keeps, in one of its rounds: a state that it only passes may be over when we look.
func (j *journey) await(id string, round int, state dag.InstanceState) {
	j.Helper()
	stop := &client.Problem{}
	err := j.site.Client.Watch(j.ctx, id, func(client.Update) error {
		if in, err := j.site.Client.Instance(j.ctx, id); err != nil || in.State != state || in.Round != round {
			return err
		}
		return stop
	})
	if err != error(stop) { //nolint:errorlint // it is this very value
		j.Fatalf("wait until %s is %s in round %d: %v", id, state, round, err)
	}
}

// begin starts the workflow behind a closed gate, and returns the gate, too.
func (j *journey) begin() (id, gate string) {
	j.Helper()
	file := filepath.Join(j.TempDir(), "file")
	id = strings.TrimSpace(j.says(0, "start", "default/journey", "--param", "file="+file))
	awaitTask(j.ctx, j.T, j.site.Client, id, "task", dag.TaskRunning)
	return id, file + ".go"
}

func (j *journey) write(path, text string) {
	j.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		j.Fatal(err)
	}
}

func TestEveryVerbOfTheCommandLine(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	j := &journey{T: t, ctx: ctx, site: standalone(ctx, t)}
	definition := filepath.Join(t.TempDir(), "journey.yaml")
	j.write(definition, journeys)
	j.says(0, "apply", "-f", definition)
	file := filepath.Join(t.TempDir(), "open")
	j.write(file+".go", "")
	j.says(0, "start", "default/journey", "--param", "file="+file, "--wait")
	j.says(1, "start", "default/journey", "--param", "file="+file, "--param", "code=7", "--wait")
	j.says(4, "start", "default/nothing")

	j.pauseAndFollow()
	j.stopAndRecover()
	j.tokens()
}

func (j *journey) pauseAndFollow() {
	j.Helper()
	id, gate := j.begin()
	follow := porpoise(j.ctx, j.site, "logs", "-f", id, "task")
	stdout, err := follow.StdoutPipe()
	if err != nil {
		j.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		j.Fatal(err)
	}
	// The first line comes while the task still runs: nobody has opened its gate.
	begun := make([]byte, len("begun\n"))
	if _, err := stdout.Read(begun); err != nil || string(begun) != "begun\n" {
		j.Fatalf("logs -f says %q, %v", begun, err)
	}
	if why := j.says(0, "explain", id, "last"); !strings.Contains(why, "task") {
		j.Errorf("explain of a task that waits for task says %q", why)
	}
	j.says(0, "pause", id)
	j.write(gate, "")
	rest := make([]byte, 64)
	n, _ := stdout.Read(rest)
	if string(rest[:n]) != "ends with 0\n" {
		j.Errorf("logs -f goes on with %q", rest[:n])
	}
	if err := follow.Wait(); err != nil {
		j.Errorf("logs -f ended with %v", err)
	}
	j.await(id, 1, dag.InstancePaused)
	if why := j.says(0, "explain", id); !strings.Contains(why, "paused") {
		j.Errorf("explain of a paused instance says %q", why)
	}
	j.says(0, "resume", id)
	j.await(id, 1, dag.InstanceSuccess)
	if out := j.says(0, "logs", id, "last"); out != "last\n" {
		j.Errorf("the log of last is %q", out)
	}
	j.says(0, "rerun", id)
	j.await(id, 2, dag.InstanceSuccess)
}

func (j *journey) stopAndRecover() {
	j.Helper()
	id, gate := j.begin()
	j.says(0, "stop", id)
	j.await(id, 1, dag.InstanceStopped)
	j.write(gate, "")
	j.says(0, "recover", id)
	j.await(id, 2, dag.InstanceSuccess)
}

func (j *journey) tokens() {
	j.Helper()
	var made client.Token
	if err := json.Unmarshal([]byte(j.says(0, "token", "create", "script", "--role", "viewer", "-o", "json")), &made); err != nil {
		j.Fatal(err)
	}
	j.says(0, "projects", "--token", made.Secret)
	j.says(0, "token", "revoke", made.ID)
	code, _, errs := finish(j.T, porpoise(j.ctx, j.site, "projects", "--token", made.Secret))
	if code != 4 || !strings.Contains(errs, "--token") {
		j.Errorf("with a revoked token = %d %q, want 4 and where to get one", code, errs)
	}
	revoked, err := client.New(client.Config{Server: j.site.URL, Token: made.Secret})
	if err != nil {
		j.Fatal(err)
	}
	var p *client.Problem
	if _, err := revoked.Projects(j.ctx); !errors.As(err, &p) || p.Status != 401 {
		j.Errorf("with a revoked token: %v, want 401", err)
	}
}
