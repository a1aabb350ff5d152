package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

func TestASecretsValueIsReadAndNeverShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input string
		args  []string
		path  string
		value string
	}{
		"of a project":            {"swordfish\n", []string{"--project", "sales"}, "/api/v1/projects/sales/secrets/db", "swordfish"},
		"of all projects":         {"swordfish\r\n", []string{"--all-projects"}, "/api/v1/secrets/db", "swordfish"},
		"with the line end":       {"swordfish\n", []string{"-p", "sales", "--exact"}, "/api/v1/projects/sales/secrets/db", "swordfish\n"},
		"with spaces and newline": {" sword\nfish \n\n", []string{"-p", "sales"}, "/api/v1/projects/sales/secrets/db", " sword\nfish \n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAsked(t, `{"name": "db"}`)
			code, out, errs := cmd(t, c.input, append([]string{"secrets", "set", "db", "--description", "of the shop", "--server", a.URL}, c.args...)...)
			if code != exitOK || strings.Contains(out+errs, "sword") || !strings.Contains(out, "${secret.db}") {
				t.Errorf("set = %d %q %q", code, out, errs)
			}
			path, body, _ := strings.Cut(a.last(), " {")
			var put struct{ Value, Description string }
			if err := json.Unmarshal([]byte("{"+body), &put); err != nil || path != "PUT "+c.path || put.Value != c.value || put.Description != "of the shop" {
				t.Errorf("asked %s with %+v, %v", path, put, err)
			}
		})
	}
}

func TestAWrongSecretIsNotSent(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{}`)
	for name, c := range map[string]struct {
		input string
		args  []string
		says  string
	}{
		"too long":         {strings.Repeat("x", dag.MaxSecret+1), []string{"db", "-p", "sales"}, "64 KiB"},
		"no name":          {"x", []string{"1 2", "-p", "sales"}, "name"},
		"of nobody":        {"x", []string{"db"}, "project"},
		"of both":          {"x", []string{"db", "-p", "sales", "--all-projects"}, "all-projects"},
		"a value as word":  {"", []string{"db", "swordfish", "-p", "sales"}, "accepts 1 arg"},
		"empty, no secret": {"", []string{"db", "-p", "sales"}, "value"},
	} {
		code, _, errs := cmd(t, c.input, append([]string{"secrets", "set", "--server", a.URL}, c.args...)...)
		if code != exitUsage || !strings.Contains(errs, c.says) || a.last() != "" {
			t.Errorf("%s: set = %d %q, asked %q", name, code, errs, a.last())
		}
	}
}

func TestSecretsAreListedAndDeletedWithoutTheirValues(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"items": [{"name": "db", "key": "k1", "updated_by": "ann"}, {"name": "token", "all_projects": true, "key": "k1"}], "count": 2, "key": "k2"}`)
	code, out, errs := cmd(t, "", "secrets", "list", "-p", "sales", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "the project") || !strings.Contains(out, "all projects") {
		t.Errorf("list = %d %q %q", code, out, errs)
	}
	code, out, _ = cmd(t, "", "secrets", "delete", "db", "--all-projects", "--server", a.URL)
	if got := strings.TrimSpace(a.last()); code != exitOK || got != "DELETE /api/v1/secrets/db" || !strings.Contains(out, "db is deleted") {
		t.Errorf("delete = %d %q, asked %s", code, out, got)
	}
	code, out, _ = cmd(t, "", "secrets", "rotate-key", "--server", a.URL)
	if got := a.last(); code != exitOK || !strings.HasPrefix(got, "POST ") || !strings.Contains(out, "2 secrets are sealed anew; key k2") {
		t.Errorf("rotate-key = %d %q, asked %s", code, out, got)
	}
}

func TestANewKeyComesBeforeTheOldOnes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret-key")
	var before string
	for range 2 {
		code, out, errs := cmd(t, "", "secrets", "new-key", file)
		text, err := os.ReadFile(file)
		if code != exitOK || err != nil || !strings.HasPrefix(out, "key ") || !strings.HasSuffix(string(text), before) || len(text) == len(before) {
			t.Errorf("new-key = %d %q %q, the file has %d bytes after %d, %v", code, out, errs, len(text), len(before), err)
		}
		before = string(text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}
