package apiserver

import (
	"strings"
	"testing"
)

func TestAnAdminGivesANewFirstPassword(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "POST", "/api/v1/users", `{"name":"bob","password":"given by the admin"}`)
	before := b.signInAs("bob", "given by the admin").Result().Cookies()
	if w := b.must(422, "PUT", "/api/v1/users/bob", `{"password":"short"}`); !strings.Contains(w.Body.String(), `"field":"password"`) {
		t.Errorf("a short password: %s", w.Body)
	}
	if got := decode[User](t, b.must(200, "PUT", "/api/v1/users/bob", `{"password":"another first password"}`)); !got.MustChangePassword {
		t.Errorf("after a reset: %+v", got)
	}
	if w := b.signInAs("bob", "given by the admin"); w.Code != 401 {
		t.Errorf("the old password: %d", w.Code)
	}
	if w := b.signInAs("bob", "another first password"); w.Code >= 300 {
		t.Errorf("the new password: %d %s", w.Code, w.Body)
	}
	if w := b.with("GET", "/api/v1/session", "", nil, before...); w.Code != 401 {
		t.Errorf("the session of before: %d", w.Code)
	}
}
