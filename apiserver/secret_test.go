package apiserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/internal/rpc"
)

// withKeys gives the bench's server a key file, and returns its path.
func (b *bench) withKeys() string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "secret-key")
	ring, err := rpc.EnsureKeyring(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.server.cfg.Keys = ring
	return path
}

func TestASecretIsPutListedAndDeletedAndNeverShown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.withKeys()
	b.signInAs(adminName, b.pass)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	const canary = "canary-0815-value"
	const own, common = "/api/v1/projects/alpha/secrets", "/api/v1/secrets"
	seen := b.must(201, "PUT", own+"/db", `{"value": "`+canary+`", "description": "the database"}`).Body.String()
	seen += b.must(200, "PUT", own+"/db", `{"value": "`+canary+`2"}`).Body.String()
	seen += b.must(201, "PUT", common+"/db", `{"value": "`+canary+`3"}`).Body.String()
	seen += b.must(201, "PUT", common+"/mail", `{"value": "`+canary+`4"}`).Body.String()
	seen += b.must(422, "PUT", own+"/bad", `{"value": "`+canary+`", "colour": "red"}`).Body.String()
	seen += b.must(422, "PUT", own+"/bad-name", `{"value": "`+canary+`"}`).Body.String()
	seen += b.must(400, "PUT", own+"/zero", `{"value": "`+canary+`\u0000"}`).Body.String()
	seen += b.must(422, "PUT", own+"/long", `{"value": "`+strings.Repeat(canary, 5000)+`"}`).Body.String()
	for body, want := range map[string]string{`{}`: "value", `{"value": "abc"}`: "4 bytes"} {
		if got := b.must(422, "PUT", own+"/short", body).Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	listed := b.must(200, "GET", own, "")
	seen += listed.Body.String()
	got := decode[List[Secret]](t, listed).Items
	if len(got) != 2 || got[0].Name != "db" || got[0].AllProjects || got[0].UpdatedBy != adminName || got[1].Name != "mail" || !got[1].AllProjects || got[0].Key == "" {
		t.Errorf("tasks of the project see %+v", got)
	}
	seen += b.must(200, "GET", common, "").Body.String()
	seen += b.snapshot()
	if strings.Contains(seen, "canary") {
		t.Errorf("a value is shown: %.3000s", seen)
	}
	b.must(204, "DELETE", own+"/db", "")
	b.must(404, "DELETE", own+"/db", "")
	b.must(204, "DELETE", common+"/mail", "")
	b.must(405, "GET", own+"/db", "") // there is no way to read one
}

func TestAllSecretsAreSealedByANewKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.withKeys()
	b.signInAs(adminName, b.pass)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	for _, at := range []string{"/api/v1/projects/alpha/secrets/db", "/api/v1/secrets/db", "/api/v1/secrets/mail"} {
		b.must(201, "PUT", at, `{"value": "some value"}`)
	}
	key, err := rpc.AddKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := decode[Resealed](t, b.must(200, "POST", "/api/v1/secret-key/rotate", "")); got.Count != 3 || got.Key != key {
		t.Errorf("sealed anew: %+v, want 3 by %s", got, key)
	}
	if got := decode[Resealed](t, b.must(200, "POST", "/api/v1/secret-key/rotate", "")); got.Count != 0 {
		t.Errorf("and again: %+v", got)
	}
	rows, err := b.store.Secrets(t.Context(), 0)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, text[:65], 0o600); err != nil { // the older key goes
		t.Fatal(err)
	}
	for _, row := range rows {
		if value, err := rpc.NewKeyring(path).Open(row.KeyID, row.Sealed, row.About()); err != nil || string(value) != "some value" {
			t.Errorf("%s opens as %q, %v", row.Name, value, err)
		}
	}
	if _, err := rpc.AddKey(path + "2"); err != nil {
		t.Fatal(err)
	}
	b.server.cfg.Keys = rpc.NewKeyring(path + "2")
	if got := b.must(409, "POST", "/api/v1/secret-key/rotate", "").Body.String(); !strings.Contains(got, "key file") {
		t.Errorf("with a file that lacks the key: %s", got)
	}
	b.server.cfg.Keys = rpc.NewKeyring(path + "3")
	if got := b.must(503, "PUT", "/api/v1/secrets/db", `{"value": "some value"}`).Body.String(); !strings.Contains(got, "secret-key-file") || strings.Contains(got, path) {
		t.Errorf("without a key file: %s", got)
	}
}

func TestValidationWarnsOfASecretThatIsNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.withKeys()
	b.signInAs(adminName, b.pass)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	b.must(201, "PUT", "/api/v1/secrets/mail", `{"value": "some value"}`)
	const text = "name: w\ntasks:\n  - {name: t, type: shell, script: x, env: {A: '${secret.mail} ${secret.db}'}}\n  - {name: u, type: shell, script: x, env: {A: '${secret.db}'}}\n"
	got := b.must(200, "POST", "/api/v1/validate?project=alpha", text, "Content-Type", "application/yaml").Body.String()
	if strings.Count(got, "no_secret") != 1 || !strings.Contains(got, `\"db\"`) || strings.Contains(got, `\"mail\"`) {
		t.Errorf("validated: %s", got)
	}
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/w", text, "Content-Type", "application/yaml")
	shown := b.must(200, "POST", "/api/v1/projects/alpha/workflows/w/parameters", `{"task": "t", "version": 1}`).Body.String()
	if !strings.Contains(shown, `"${secret.mail} ${secret.db}"`) || !strings.Contains(shown, `"name":"secret.db"`) || strings.Contains(shown, "some value") {
		t.Errorf("the preview says %s", shown)
	}
}
