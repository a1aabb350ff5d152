package sqltest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

func (b *bench) secret(project int64, name, sealed string) (bool, error) {
	return b.PutSecret(b.ctx, sql.Secret{ProjectID: project, Name: name, KeyID: "k1", Sealed: []byte(sealed), Description: "d", UpdatedBy: "ann"})
}

func secretsOfAProjectComeBeforeThoseOfAll(t *testing.T, b *bench) {
	own := b.project.ID
	for _, s := range []struct {
		project int64
		name    string
		sealed  string
		made    bool
	}{
		{0, "db", "all", true}, {0, "mail", "all\x00\xff", true}, {own, "db", "first", true}, {own, "db", "own", false}, {own, "DB", "apart", true},
	} {
		if made, err := b.secret(s.project, s.name, s.sealed); err != nil || made != s.made {
			t.Errorf("put %s of %d: made %t, %v", s.name, s.project, made, err)
		}
	}
	found, err := b.SecretsNamed(b.ctx, own, []string{"db", "mail", "none"})
	b.must(err)
	if len(found) != 2 || string(found["db"].Sealed) != "own" || string(found["mail"].Sealed) != "all\x00\xff" || found["mail"].ProjectID != 0 {
		t.Errorf("a task sees %+v", found)
	}
	list, err := b.Secrets(b.ctx, own)
	b.must(err)
	if len(list) != 2 || list[0].Name != "DB" || list[1].UpdatedBy != "ann" || list[1].UpdatedAt == 0 || list[1].Description != "d" {
		t.Errorf("the project has %+v", list)
	}
	b.must(b.DeleteSecret(b.ctx, own, "db"))
	if err := b.DeleteSecret(b.ctx, own, "db"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("the second deletion is %v, want ErrNotFound", err)
	}
	if found, err = b.SecretsNamed(b.ctx, own, []string{"db"}); err != nil || string(found["db"].Sealed) != "all" {
		t.Errorf("without its own a task sees %+v, %v, want that of all projects", found, err)
	}
}

func secretsGoWithTheirProject(t *testing.T, b *bench) {
	other, err := b.CreateProject(b.ctx, sql.Project{Name: "Other"})
	b.must(err)
	_, err = b.secret(other.ID, "db", "x")
	b.must(err)
	b.must(b.DeleteProject(b.ctx, other.ID))
	if list, err := b.Secrets(b.ctx, other.ID); err != nil || len(list) != 0 {
		t.Errorf("a deleted project has secrets %v, %v", list, err)
	}
	if _, err := b.secret(other.ID, "db", "x"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a secret of a deleted project is %v, want ErrNotFound", err)
	}
}

func secretsAreSealedAnew(t *testing.T, b *bench) {
	const many = 130
	for i := range many {
		_, err := b.secret(int64(i%2)*b.project.ID, fmt.Sprintf("s%03d", i), fmt.Sprint("old", i))
		b.must(err)
	}
	_, err := b.PutSecret(b.ctx, sql.Secret{Name: "is", KeyID: "k2", Sealed: []byte("new")})
	b.must(err)
	broken := errors.New("broken")
	seen := 0
	reseal := func(s sql.Secret) (sql.Secret, error) {
		if seen++; seen == 115 {
			return s, broken
		}
		if s.Name == "s005" { // somebody changes it in the middle
			_, err := b.PutSecret(b.ctx, sql.Secret{ProjectID: s.ProjectID, Name: s.Name, KeyID: "k2", Sealed: []byte("theirs")})
			b.must(err)
		}
		s.KeyID, s.Sealed = "k2", append([]byte("new "), s.Sealed...)
		return s, nil
	}
	first, err := b.ResealSecrets(b.ctx, "k2", reseal)
	if !errors.Is(err, broken) {
		t.Fatalf("a seal that fails: %d, %v", first, err)
	}
	second, err := b.ResealSecrets(b.ctx, "k2", reseal)
	b.must(err)
	if first+second != many-1 {
		t.Errorf("%d and %d were sealed anew, want %d together", first, second, many-1)
	}
	found, err := b.SecretsNamed(b.ctx, b.project.ID, []string{"s004", "s005", "s129", "is"})
	b.must(err)
	for name, want := range map[string]string{"s004": "new old4", "s005": "theirs", "s129": "new old129", "is": "new"} {
		if got := found[name]; string(got.Sealed) != want || got.KeyID != "k2" {
			t.Errorf("%s is sealed as %q by %s, want %q", name, got.Sealed, got.KeyID, want)
		}
	}
}

func secretsAreBounded(t *testing.T, b *bench) {
	for i := range sql.MaxSecrets {
		_, err := b.secret(b.project.ID, fmt.Sprint("s", i), "x")
		b.must(err)
	}
	if _, err := b.secret(b.project.ID, "more", "x"); !errors.Is(err, sql.ErrFull) {
		t.Errorf("one too many is %v, want ErrFull", err)
	}
	if made, err := b.secret(b.project.ID, "s1", "y"); made || err != nil {
		t.Errorf("another value for one that is there: %t, %v", made, err)
	}
}
