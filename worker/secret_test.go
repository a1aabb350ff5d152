package worker_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/workertest"
)

const canary = "canary-4711 \"quoted\""

func withSecret(d *rpc.Dispatch, name string) *rpc.Dispatch {
	d.Secrets = &rpc.Secrets{Env: map[string]string{name: canary}, Values: []string{canary}}
	return d
}

// nowhere fails if a file of the folder holds the value.
func nowhere(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "canary-4711") {
			t.Errorf("%s holds the value", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files read, %v", files, err)
	}
}

func TestASecretReachesTheProcessAndNoFile(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 8, m)
	workertest.Run(t, spec)
	right := withSecret(workertest.Shell(1, `[ ${#DB} = 20 ] && echo "$DB|$plain"; printf 'canary'; sleep 0.1; printf -- '-4711 "quo'; sleep 0.1; printf 'ted"\ncan'; echo "$DB" >&2; tr '\0' ' ' </proc/$$/cmdline`), "DB")
	right.Env = map[string]string{"plain": "seen", "DB": "a parameter of the same name"}
	out := withSecret(workertest.Shell(2, `echo '${setValue(a=fine)}'; echo "\${setValue(b=x${DB}y)}"`), "DB")
	out.Outputs = []string{"a", "b"}
	file := withSecret(workertest.Shell(3, `echo "a=$DB" >"$PORPOISE_OUTPUT"; exit 0`), "DB")
	file.Outputs = []string{"a"}
	m.Submit(right, out, file)
	r := m.Report("t1")
	if r.State != "success" || strings.Contains(string(r.Tail), "canary-") || strings.Count(string(r.Tail), "***") != 3 || !strings.Contains(string(r.Tail), "***|seen\n") {
		t.Errorf("report = %v", r)
	}
	for _, token := range []string{"t2", "t3"} {
		if r := m.Report(token); r.State != "failed" || r.Reason != "output_secret" || len(r.Outputs) != 0 || strings.Contains(r.Message+string(r.Tail), "canary") {
			t.Errorf("%s = %v", token, r)
		}
	}
	nowhere(t, spec.Dir)
}

func TestACallMasksItsSecrets(t *testing.T) {
	t.Parallel()
	got := make(chan string, 4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("X-Key")
		_, _ = fmt.Fprint(w, "you sent ", r.Header.Get("X-Key"))
	}))
	defer server.Close()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 8, m)
	workertest.Run(t, spec)
	sealed := func(n int64, s dag.HTTPSpec) *rpc.Dispatch {
		d := workertest.Dispatch(n, "http", s)
		d.Secrets = &rpc.Secrets{Spec: d.Spec, Values: []string{canary}}
		d.Spec = nil
		return d
	}
	headers := map[string]string{"X-Key": canary}
	shows := sealed(1, dag.HTTPSpec{URL: server.URL, Headers: headers})
	gives := sealed(2, dag.HTTPSpec{URL: server.URL, Headers: headers})
	gives.Outputs = []string{"response"}
	fails := sealed(3, dag.HTTPSpec{URL: "http://127.0.0.1:1/" + strings.ReplaceAll(canary, " ", "%20")})
	fails.Secrets.Values = []string{"canary-4711"}
	m.Submit(shows, gives, fails)
	if r := m.Report("t1"); r.State != "success" || string(r.Tail) != "you sent ***" {
		t.Errorf("a call = %v", r)
	}
	if sent := <-got; sent != canary {
		t.Errorf("the server got %q", sent)
	}
	if r := m.Report("t2"); r.State != "failed" || r.Reason != "output_secret" || len(r.Outputs) != 0 {
		t.Errorf("an output with the value = %v", r)
	}
	if r := m.Report("t3"); r.State != "failed" || !strings.Contains(r.Message, "***") || strings.Contains(r.Message, "canary") {
		t.Errorf("a call that fails = %v", r)
	}
	nowhere(t, spec.Dir)
}
