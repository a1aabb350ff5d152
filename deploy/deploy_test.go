package deploy_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// compose is what the tests look at in docker-compose.yml.
type compose struct {
	Services map[string]service  `yaml:"services"`
	Volumes  map[string]struct{} `yaml:"volumes"`
	Networks map[string]struct{} `yaml:"networks"`
}

type service struct {
	Image       string            `yaml:"image"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Networks    []string          `yaml:"networks"`
	Ports       []string          `yaml:"ports"`
	Healthcheck struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
	DependsOn map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
}

// ours says that the service runs the image of deploy/Dockerfile.
func (s service) ours() bool { return strings.HasPrefix(s.Image, "porpoise:") }

func readCompose(t *testing.T) compose {
	t.Helper()
	text, err := os.ReadFile("../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// build makes the binary once for all tests; the test that asked first owns the folder,
// so the folder is removed by TestMain.
var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "porpoise")
	cmd := exec.Command("go", "build", "-o", path, "../cmd/porpoise")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build porpoise: %w\n%s", err, out)
	}
	return path, nil
})

var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "porpoise-deploy"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder) // left over, it hurts nobody
	os.Exit(code)
}

// accept asks the binary whether a role takes these settings. It fails the test where not.
func accept(t *testing.T, role string, flags []string, env map[string]string) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"config", "check", role}, flags...)...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, name+"="+env[name])
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("porpoise config check %s %s: %v\n%s", role, strings.Join(flags, " "), err, out)
	}
	return string(out)
}

// substitution is ${NAME:-default}, as compose replaces it.
var substitution = regexp.MustCompile(`\$\{[A-Z_]+:-([^}]*)\}`)

func TestServicesOfTheComposeFileAreRolesWithSettingsThatTheyTake(t *testing.T) {
	t.Parallel()
	roles := map[string]int{}
	for name, s := range readCompose(t).Services {
		if !s.ours() {
			continue
		}
		env := map[string]string{}
		for key, value := range s.Environment {
			env[key] = substitution.ReplaceAllString(value, "$1")
		}
		if len(s.Command) == 0 {
			t.Errorf("service %s names no role", name)
			continue
		}
		roles[s.Command[0]]++
		out := accept(t, s.Command[0], s.Command[1:], env)
		if strings.Contains(out, "porpoise@tcp") || strings.Contains(out, ":porpoise") {
			t.Errorf("service %s: the configuration shows the database's password:\n%s", name, out)
		}
	}
	want := map[string]int{"migrate": 1, "master": 2, "worker": 2, "apiserver": 1}
	if !maps.Equal(roles, want) {
		t.Errorf("the services are %v, want %v", roles, want)
	}
}

func TestComposeFileHangsTogether(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	for name, s := range c.Services {
		if len(s.Healthcheck.Test) == 0 && name != "migrate" {
			t.Errorf("service %s has no health check", name)
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if _, ok := c.Volumes[source]; !ok {
				t.Errorf("service %s mounts the volume %s, which is not declared", name, source)
			}
		}
		for _, n := range s.Networks {
			if _, ok := c.Networks[n]; !ok {
				t.Errorf("service %s is on the network %s, which is not declared", name, n)
			}
		}
		for on, d := range s.DependsOn {
			if _, ok := c.Services[on]; !ok || d.Condition == "" {
				t.Errorf("service %s depends on %s without a condition, or there is none", name, on)
			}
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("service %s publishes %s to other machines, in plain HTTP", name, p)
			}
		}
	}
}

// TestWorkersCannotReachWhatTheyNeedNot: a task is a program of whoever may edit workflows.
func TestWorkersCannotReachWhatTheyNeedNot(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	for name, s := range c.Services {
		if len(s.Command) == 0 || s.Command[0] != "worker" {
			continue
		}
		if len(s.Networks) == 0 {
			t.Errorf("service %s is on the default network, with everything else", name)
		}
		for _, n := range s.Networks {
			if slices.Contains(c.Services["mysql"].Networks, n) {
				t.Errorf("service %s shares the network %s with the database", name, n)
			}
		}
		for _, v := range s.Volumes {
			if strings.HasPrefix(v, "secrets:") {
				t.Errorf("service %s mounts the cluster's secrets", name)
			}
		}
		for key := range s.Environment {
			if key == "PORPOISE_DATABASE" || key == "PORPOISE_CLUSTER_KEY" {
				t.Errorf("service %s has %s", name, key)
			}
		}
	}
}

// TestComposeToolTakesTheFile runs docker-compose, or docker compose, where one is there.
func TestComposeToolTakesTheFile(t *testing.T) {
	t.Parallel()
	tool := []string{"docker-compose"}
	if _, err := exec.LookPath(tool[0]); err != nil {
		if err := exec.Command("docker", "compose", "version").Run(); err != nil {
			t.Skip("neither docker-compose nor docker compose is here")
		}
		tool = []string{"docker", "compose"}
	}
	args := append(tool[1:], "-f", "../docker-compose.yml", "config", "-q")
	if out, err := exec.Command(tool[0], args...).CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", tool[0], strings.Join(args, " "), err, out)
	}
}

// needed is what an installation writes into the unit's environment file.
var needed = map[string]map[string]string{
	"standalone": {},
	"master":     {"PORPOISE_DATABASE": "mysql:u:p@tcp(db:3306)/porpoise", "PORPOISE_ETCD": "etcd:2379", "PORPOISE_CLUSTER_KEY": "/etc/porpoise/cluster.key"},
	"apiserver":  {"PORPOISE_DATABASE": "mysql:u:p@tcp(db:3306)/porpoise", "PORPOISE_ETCD": "etcd:2379", "PORPOISE_CLUSTER_KEY": "/etc/porpoise/cluster.key"},
	"worker":     {"PORPOISE_ETCD": "etcd:2379", "PORPOISE_MASTERS": "master:7070", "PORPOISE_JOIN_TOKEN_FILE": "/etc/porpoise/join-token"},
}

const installed = "/usr/local/bin/porpoise"

// units reads the systemd units: role to text.
func units(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("*.service")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[path] = string(text)
	}
	return found
}

var execStart = regexp.MustCompile(`(?m)^ExecStart=` + installed + ` (\S+)(.*)$`)

func TestUnitsRunRolesWithSettingsThatTheyTake(t *testing.T) {
	t.Parallel()
	roles := map[string]bool{}
	for path, text := range units(t) {
		m := execStart.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s does not start %s", path, installed)
			continue
		}
		role := m[1]
		roles[role] = true
		accept(t, role, strings.Fields(m[2]), needed[role])
		// What owns a runner must leave it alone, and outlive a task that uses up the memory.
		if role == "worker" || role == "standalone" {
			for _, line := range []string{"KillMode=process", "OOMPolicy=continue"} {
				if !strings.Contains(text, "\n"+line+"\n") {
					t.Errorf("%s lacks %s", path, line)
				}
			}
		}
	}
	if len(roles) != len(needed) {
		t.Errorf("the units run %v, want one of each of %v", roles, slices.Sorted(maps.Keys(needed)))
	}
}

// TestSystemdTakesTheUnits runs systemd-analyze where it is there.
func TestSystemdTakesTheUnits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not here")
	}
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range units(t) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, installed, binary)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput()
		if err != nil || strings.Contains(string(out), name) {
			t.Errorf("systemd-analyze verify %s: %v\n%s", name, err, out)
		}
	}
}

var (
	entrypoint = regexp.MustCompile(`(?m)^ENTRYPOINT \[.*"porpoise"\]$`)
	command    = regexp.MustCompile(`(?m)^CMD \[(.*)\]$`)
	user       = regexp.MustCompile(`(?m)^USER (\S+)$`)
)

func TestImageRunsARoleThatExistsAndNotAsRoot(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	image := string(text)
	if !entrypoint.MatchString(image) {
		t.Error("the image does not start porpoise")
	}
	if u := user.FindStringSubmatch(image); u == nil || u[1] == "root" || u[1] == "0" || strings.HasPrefix(u[1], "0:") {
		t.Errorf("the image runs as %v", u)
	}
	if !strings.Contains(image, "\nHEALTHCHECK ") || !strings.Contains(image, "CGO_ENABLED=0") {
		t.Error("the image has no health check, or a binary that needs a C library")
	}
	m := command.FindStringSubmatch(image)
	if m == nil {
		t.Fatal("the image has no command")
	}
	words := strings.Split(m[1], ",")
	for i := range words {
		words[i] = strings.Trim(words[i], ` "`)
	}
	accept(t, words[0], words[1:], nil)
}
