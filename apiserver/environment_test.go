package apiserver

import (
	"strings"
	"testing"
)

func TestEnvironmentsAreKeptCheckedAndMissed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/shop", "")
	const all = "/api/v1/projects/shop/environments"
	text := "name: w\nenvironment: prod\ntasks:\n  - {name: a, type: shell, script: x}\n"
	if warned := b.must(200, "POST", "/api/v1/validate?project=shop", text, "Content-Type", yamlType).Body.String(); !strings.Contains(warned, "no_environment") {
		t.Errorf("nobody warns of an environment that is not there: %s", warned)
	}
	b.must(200, "PUT", all+"/Prod", `{"variables": {"JAVA_HOME": "/opt/java"}, "description": "west"}`)
	if warned := b.must(200, "POST", "/api/v1/validate?project=shop", text, "Content-Type", yamlType).Body.String(); strings.Contains(warned, "no_environment") {
		t.Errorf("an environment is missed that is there: %s", warned)
	}
	wrong := b.must(422, "PUT", all+"/Prod", `{"variables": {"PATH": "/x", "1x": "y"}}`).Body.String()
	if !strings.Contains(wrong, "variables.PATH") || !strings.Contains(wrong, "variables.1x") {
		t.Errorf("both wrong variables are to be named: %s", wrong)
	}
	list := decode[List[Environment]](t, b.must(200, "GET", all, "")).Items
	if len(list) != 1 || list[0].Name != "Prod" || list[0].Variables["JAVA_HOME"] != "/opt/java" || list[0].UpdatedBy == "" {
		t.Errorf("environments = %+v; a refused change must leave what was there", list)
	}
	b.must(204, "DELETE", all+"/prod", "")
	b.must(404, "DELETE", all+"/prod", "")
}

func TestEnvironmentsOfAllProjectsAreTheAdminsToChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/shop", "")
	const all = "/api/v1/environments"
	text := "name: w\nenvironment: prod\ntasks:\n  - {name: a, type: shell, script: x}\n"
	owner := b.person("olga", "shop", roleOwner, false)
	ask := func(method, path, body string) int {
		return b.do(asked{method: method, path: path, body: body, token: owner, header: map[string]string{"Content-Type": "application/json"}}).Code
	}
	if put, del := ask("PUT", all+"/Prod", `{"variables": {}}`), ask("DELETE", all+"/Prod", ""); put != 403 || del != 403 {
		t.Errorf("who owns a project is answered %d and %d, want 403", put, del)
	}
	b.must(200, "PUT", all+"/Prod", `{"variables": {"WHERE": "all"}}`)
	b.must(422, "PUT", all+"/Prod", `{"variables": {"PATH": "/x"}}`)
	if warned := b.must(200, "POST", "/api/v1/validate?project=shop", text, "Content-Type", yamlType).Body.String(); strings.Contains(warned, "no_environment") {
		t.Errorf("an environment of all projects is missed: %s", warned)
	}
	if code := ask("GET", all, ""); code != 200 {
		t.Errorf("who owns a project can't see those of all: %d", code)
	}
	list := decode[List[Environment]](t, b.must(200, "GET", all, "")).Items
	if len(list) != 1 || list[0].Name != "Prod" || list[0].Variables["WHERE"] != "all" {
		t.Errorf("environments of all projects = %+v", list)
	}
	if own := decode[List[Environment]](t, b.must(200, "GET", "/api/v1/projects/shop/environments", "")).Items; len(own) != 0 {
		t.Errorf("the project's own are %+v", own)
	}
	// The project's own wins.
	b.must(200, "PUT", "/api/v1/projects/shop/environments/prod", `{"variables": {"WHERE": "shop"}}`)
	known, err := b.server.environments(t.Context(), b.projectID("shop"))
	if err != nil || known["prod"]["WHERE"] != "shop" {
		t.Errorf("a task of the project sees %v, %v", known, err)
	}
	b.must(204, "DELETE", all+"/prod", "")
	b.must(404, "DELETE", all+"/prod", "")
}
