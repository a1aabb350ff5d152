package worker_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker"
	"github.com/porpoise/porpoise/worker/workertest"
)

func TestMain(m *testing.M) { workertest.Main(m) }

func TestAttemptsRunAndAreReported(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 4, m))
	m.Submit(workertest.Shell(1, "echo x"), workertest.Shell(2, "exit 7"), workertest.Dispatch(3, "noop", struct{}{}))
	if r := m.Report("t1"); r.State != "success" || string(r.Tail) != "x\n" || r.StartedAt == 0 || r.FinishedAt < r.StartedAt {
		t.Errorf("shell = %v", r)
	}
	if r := m.Report("t2"); r.State != "failed" || r.Reason != "exit_code" || r.ExitCode != 7 {
		t.Errorf("exit 7 = %v", r)
	}
	if r := m.Report("t3"); r.State != "success" {
		t.Errorf("noop = %v", r)
	}
	m.AwaitAsks(4)
}

func TestWhatCannotRunFailsWithAReasonThatNamesIt(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 8, m))
	folder := workertest.Shell(3, "true")
	folder.WorkingDir = "/no/such/folder"
	env := workertest.Shell(5, "true")
	env.Env = map[string]string{"PORPOISE_FENCE": "9"}
	m.Submit(
		workertest.Dispatch(1, "cobol", struct{}{}),
		workertest.Dispatch(2, "shell", map[string]string{"script": "true", "interpreter": "zsh-of-old"}),
		folder,
		workertest.Dispatch(4, "shell", map[string]any{"script": "true", "skript": "x"}),
		env,
		workertest.Dispatch(6, "python", map[string]string{"script": "pass", "interpreter": "/no/python"}),
	)
	for token, want := range map[string][2]string{
		"t1": {"unknown_type", "cobol"}, "t2": {"no_interpreter", "zsh-of-old"}, "t3": {"working_dir", "/no/such/folder"},
		"t4": {"bad_spec", "skript"}, "t5": {"bad_env", "PORPOISE_FENCE"}, "t6": {"no_interpreter", "/no/python"},
	} {
		if r := m.Report(token); r.State != "failed" || r.Reason != want[0] || !strings.Contains(r.Message, want[1]) {
			t.Errorf("%s = %v, want %v", token, r, want)
		}
	}
	m.AwaitAsks(8)
}

// Parameters are attack A7: nothing in a value may ever be read by a shell.
func TestParametersArriveByteForByte(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 8, m))
	values := map[string]string{
		"quotes": `'"\'"`, "lines": "a\n\nb\r\n", "dollar": "$(touch /tmp/pwned) ${IFS} $HOME `id`", "semicolon": "; exit 9 ;",
		"dash": "-oProxyCommand=x", "utf8": "größe 🐬 \u202e", "empty": "", "space": "  a  ", "glob": "* ? [a]", "star": "!!#",
		"long": strings.Repeat("x'$", 33_000), "ctrl": "\x01\x1b[31m\x7f",
	}
	names := slices.Sorted(maps.Keys(values))
	script := "import os, sys, json\nsys.stdout.write('${setValue(all=' + json.dumps({n: os.environ[n] for n in " +
		string(mustJSON(names)) + " if n != 'long'}) + ')}')\nassert os.environ['long'] == \"x'$\" * 33000"
	d := workertest.Dispatch(1, "python", map[string]string{"script": script})
	d.Env, d.Outputs = values, []string{"all"}
	sh := workertest.Shell(2, `printf '${setValue(lines=%s)}' "$lines"; printf '${setValue(dollar=%s)}' "${dollar}"`)
	sh.Env, sh.Outputs = values, []string{"lines", "dollar"}
	m.Submit(d, sh)
	r := m.Report("t1")
	var got map[string]string
	if err := json.Unmarshal([]byte(r.Outputs["all"]), &got); err != nil {
		t.Fatalf("report = %v: %v", r, err)
	}
	for _, n := range names {
		if n != "long" && got[n] != values[n] {
			t.Errorf("%s = %q, want %q", n, got[n], values[n])
		}
	}
	if r := m.Report("t2"); r.Outputs["lines"] != values["lines"] || r.Outputs["dollar"] != values["dollar"] {
		t.Errorf("in the shell: %q", r.Outputs)
	}
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func TestATasksEnvironmentIsItsOwn(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Launch(t, workertest.NewSpec(t, 4, m)) // with SECRET_OF_THE_WORKER
	d := workertest.Shell(1, "env | sort; pwd; ls -A; ls /proc/$$/fd; cat; ulimit -c")
	d.Attempt.Number = 3
	d.Env = map[string]string{"region": "eu"}
	m.Submit(d)
	r := m.Report("t1")
	text := string(r.Tail)
	for _, want := range []string{"PORPOISE_ATTEMPT=3\n", "PORPOISE_FENCE=3\n", "PORPOISE_IDEMPOTENCY_KEY=key-1\n", "region=eu\n", "PATH=/usr"} {
		if !strings.Contains(text, want) {
			t.Errorf("environment lacks %q:\n%s", want, text)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		name, _, isVar := strings.Cut(line, "=")
		allowed := []string{"PATH", "HOME", "LANG", "TZ", "PWD", "OLDPWD", "SHLVL", "_", "region", "PORPOISE_ATTEMPT", "PORPOISE_FENCE", "PORPOISE_IDEMPOTENCY_KEY", "PORPOISE_MARK"}
		if isVar && !slices.Contains(allowed, name) {
			t.Errorf("%q leaked into the task", line)
		}
	}
	if strings.Contains(text, "t1") {
		t.Errorf("the token is in the task's environment:\n%s", text)
	}
	// Standard files and nothing else are open; core files are off.
	if !strings.HasSuffix(text, "/empty\n0\n1\n2\n0\n") {
		t.Errorf("open files and core limit:\n%s", text)
	}
}

func TestADryRunRunsNothing(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 4, m))
	for i, kind := range []string{"shell", "noop", "http"} {
		d := workertest.Dispatch(int64(i), kind, struct{}{})
		d.DryRun = true
		m.Submit(d)
		if r := m.Report(workertest.Token(int64(i))); r.State != "success" {
			t.Errorf("%s = %v", kind, r)
		}
	}
}

func TestKillsAreAnsweredWithTheirReason(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	workertest.Run(t, spec)
	d := workertest.Shell(1, "trap '' TERM; setsid sleep 1001 & sleep 1002")
	m.Submit(d)
	m.Report("t1", "running")
	unknown := workertest.Shell(2, "echo never").Attempt
	m.Send(&rpc.MasterMessage{Kills: []*rpc.Kill{
		{Attempt: d.Attempt, OwnerEpoch: 1, Reason: "timeout", GraceMs: 50},
		{Attempt: unknown, OwnerEpoch: 1, Reason: "stopped"},
	}})
	if r := m.Report("t1"); r.State != "killed" || r.Reason != "timeout" {
		t.Errorf("report = %v", r)
	}
	if left := workertest.Marked(spec.Dir); len(left) != 0 {
		t.Errorf("processes %v live after the report", left)
	}
	if r := m.Report("t2"); r.State != "killed" || r.Reason != "stopped" {
		t.Errorf("an attempt that never came = %v", r)
	}
	// A dispatch that was overtaken by its kill must not run any more.
	m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{workertest.Shell(2, "echo never")}})
	m.Until("the answer", func() bool { return m.Count("t2") >= 2 })
	for _, r := range m.Reports("t2") {
		if r.State != "killed" {
			t.Errorf("after its kill: %v", r)
		}
	}
}

func TestMoreThanTheSlotsIsGivenBack(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	workertest.Run(t, workertest.NewSpec(t, 1, m))
	m.AwaitAsks(1)
	m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{workertest.Shell(1, "sleep 1001"), workertest.Shell(2, "true")}})
	if r := m.Report("t2"); r.State != "returned" || r.Reason != "no_slot" {
		t.Errorf("report = %v", r)
	}
	if now, most := m.Asks(); most > 1 || now > 1 {
		t.Errorf("asks %d, at most %d, with one slot", now, most)
	}
}

// apiserver asks a worker for logs.
type apiserver struct {
	rpc.UnimplementedLogsServer
	streams chan rpc.Logs_ServeServer
}

func (a *apiserver) Serve(s rpc.Logs_ServeServer) error {
	a.streams <- s
	<-s.Context().Done()
	return nil
}

// answer receives what answers a query, and passes over the figures that come unasked.
func answer(s rpc.Logs_ServeServer) (*rpc.LogAnswer, error) {
	for {
		a, err := s.Recv()
		if err != nil || a.Figures == nil {
			return a, err
		}
		if h := a.Figures.GetHeartbeat(); h.GetCapacity() != 500 || h.GetPeriodMs() != 1000 {
			return nil, fmt.Errorf("figures = %v", a.Figures)
		}
	}
}

func TestLogsAreServedAndFollowed(t *testing.T) {
	t.Parallel()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	api := &apiserver{streams: make(chan rpc.Logs_ServeServer, 1)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	rpc.RegisterLogsServer(server, api)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	spec.Readers = []worker.Peer{{Node: "a1", Address: listener.Addr().String()}}
	workertest.Run(t, spec)
	gate := t.TempDir() + "/gate"
	d := workertest.Shell(1, "echo one; while [ ! -e "+gate+" ]; do sleep 0.02; done; echo two >&2; echo three")
	m.Submit(d)
	m.Report("t1", "running")
	s := <-api.streams
	first, err := s.Recv()
	if err != nil || first.Worker != "w1" || first.Incarnation != "boot1" {
		t.Fatalf("greeting = %v, %v", first, err)
	}
	id := &rpc.AttemptID{InstanceId: 1, Number: 1}
	if err := s.Send(&rpc.LogQuery{Id: 7, Attempt: id, Follow: true}); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for touched := false; ; {
		a, err := answer(s)
		if err != nil {
			t.Fatal(err)
		}
		if a.Id != 7 || a.Error != "" || a.Offset != int64(text.Len()) {
			t.Fatalf("answer = %v after %q", a, text.String())
		}
		text.Write(a.Data)
		if text.String() == "one\n" && !touched {
			touched = true
			touch(t, gate)
		}
		if a.Eof {
			break
		}
	}
	if got := text.String(); len(got) != 14 || !strings.HasPrefix(got, "one\n") {
		t.Errorf("followed %q", got)
	}
	for id, q := range map[int64]*rpc.LogQuery{
		8: {Id: 8, Attempt: id, Stream: "stderr"}, 9: {Id: 9, Attempt: id, Stream: "stdout", Offset: -6},
		10: {Id: 10, Attempt: &rpc.AttemptID{InstanceId: 99}},
	} {
		if err := s.Send(q); err != nil {
			t.Fatal(err)
		}
		a, err := answer(s)
		if err != nil || a.Id != id {
			t.Fatalf("answer = %v, %v", a, err)
		}
		want := map[int64]string{8: "two\n", 9: "three\n", 10: ""}[id]
		if string(a.Data) != want || (id == 10) != (a.Error == "not_found") {
			t.Errorf("answer to %v = %v", q, a)
		}
	}
}
