package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// loaded runs load for a worker, with the command line's own flags.
func loaded(t *testing.T, file string, environ, args []string) (*workerConfig, error) {
	t.Helper()
	c := defaultWorker()
	cmd := &cobra.Command{}
	register(cmd.Flags(), c)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	known := map[string]setting{}
	for _, s := range settings(c) {
		known[s.key] = s
	}
	set := map[string]bool{}
	for _, s := range settings(c) {
		set[s.key] = cmd.Flags().Changed(s.key)
	}
	var wrong []error
	if file != "" {
		wrong = fromFile(cmd.Flags(), file, known, set)
	}
	wrong = append(wrong, fromEnv(cmd.Flags(), environ, known, set)...)
	return c, errors.Join(append(wrong, c.Check()...)...)
}

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "c.yaml", "etcd: [a:1, b:2]\nslots: 3\ndrain-for: 5s\nnode: from-file\n")
	c, err := loaded(t, file, []string{"PORPOISE_SLOTS=4", "PORPOISE_NODE=from-env", "HOME=/"}, []string{"--node", "from-flag"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Node != "from-flag" || c.Slots != 4 || c.DrainFor != 5*time.Second || strings.Join(c.Etcd, " ") != "a:1 b:2" {
		t.Errorf("config = %+v", c)
	}
}

func TestEveryWrongKeyIsNamed(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "c.yaml", "slot: 3\ndrainFor: 5s\nslots: many\n")
	_, err := loaded(t, file, []string{"PORPOISE_GRUOPS=x", "PORPOISE_KEEP_TASKS=maybe"}, []string{"--log-level", "loud"})
	if err == nil {
		t.Fatal("everything was taken")
	}
	for _, want := range []string{"slot: no such key", "is drain-for meant?", "slots: ", "PORPOISE_GRUOPS: no role", "PORPOISE_KEEP_TASKS: ", "log-level: \"loud\"", "etcd: name at least one"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func TestSettingsOfOtherRolesAndOfTasksArePassedOver(t *testing.T) {
	t.Parallel()
	_, err := loaded(t, "", []string{"PORPOISE_DATABASE=mysql:x", "PORPOISE_SERVER=x", "PORPOISE_ATTEMPT=1", "PORPOISE_TEST_MYSQL=x"}, []string{"--etcd", "a:1"})
	if err != nil {
		t.Error(err)
	}
}

func TestConfigPrintsNoSecret(t *testing.T) {
	t.Parallel()
	c := defaultMaster()
	c.Database, c.EtcdPassword, c.Etcd = "mysql:u:hunter2@tcp(db:3306)/p", "hunter3", []string{"a:1"}
	var b bytes.Buffer
	if err := printConfig(&b, c); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hunter") || !strings.Contains(b.String(), "database: (hidden)\n") || !strings.Contains(b.String(), "etcd: [a:1]\n") {
		t.Errorf("config = %s", b.String())
	}
	c.Database = "postgres:hunter4"
	if err := errors.Join(c.Check()...); err == nil || strings.Contains(err.Error(), "hunter") {
		t.Errorf("check = %v, want an error without the password", err)
	}
}

func TestDefaultsAreValidWhereNothingIsNeeded(t *testing.T) {
	t.Parallel()
	if wrong := defaultStandalone().Check(); len(wrong) > 0 {
		t.Errorf("standalone: %v", wrong)
	}
	for _, r := range roleConfigs() {
		keys := map[string]bool{}
		for _, s := range settings(r.config) {
			if s.key == "" || s.about == "" || keys[s.key] {
				t.Errorf("%s: setting %q has no key or explanation, or is there twice", r.name, s.key)
			}
			keys[s.key] = true
		}
	}
}

func TestHTTPBeyondLoopbackWantsTLSOrAWord(t *testing.T) {
	t.Parallel()
	for address, fine := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "localhost:80": true, ":80": false, "0.0.0.0:80": false, "10.0.0.1:80": false, "x": false} {
		w := web{HTTP: address}
		if wrong := w.check(); (len(wrong) == 0) != fine {
			t.Errorf("http %s: %v", address, wrong)
		}
	}
	w := web{HTTP: "0.0.0.0:80", HTTPPlain: true}
	if wrong := w.check(); len(wrong) > 0 {
		t.Errorf("http-plain: %v", wrong)
	}
}

func TestTasksInheritNoSettings(t *testing.T) {
	t.Parallel()
	got := strings.Join(taskEnvironment([]string{"PATH=/bin", "PORPOISE_DATABASE=secret", "NOTIFY_SOCKET=/x", "LISTEN_FDS=1", "TZ=UTC"}), " ")
	if got != "PATH=/bin TZ=UTC" {
		t.Errorf("environment = %q", got)
	}
}

// Requirement F70: the key of another cluster opens nothing, and the message names the file.
func TestTheKeyOfAnotherClusterIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database := "sqlite:" + filepath.Join(dir, "porpoise.db")
	if code, _, errs := cmd(t, "", "migrate", "--database", database, "--data", filepath.Join(dir, "one"), "--log-level", "error"); code != exitOK {
		t.Fatalf("migrate = %d %q", code, errs)
	}
	other := filepath.Join(dir, "two")
	code, _, errs := cmd(t, "", "migrate", "--database", database, "--data", other, "--log-level", "error")
	if code != exitFailed || !strings.Contains(errs, filepath.Join(other, "cluster.key")+" the key of this cluster?") {
		t.Errorf("with another key: %d %q, want %d and the name of the key's file", code, errs, exitFailed)
	}
}
