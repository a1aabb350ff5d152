package worker_test

import (
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker"
	"github.com/porpoise/porpoise/worker/workertest"
)

// A search goes from an apiserver through the worker to the runner's files and back.
func TestSearchGoesThroughTheWholeOutput(t *testing.T) {
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
	m.Submit(workertest.Shell(1, "seq -f 'line %.0f' 1 60000; echo Error: 5 >&2"))
	if r := m.Report("t1"); r.State != "success" {
		t.Fatalf("the task is %v", r)
	}
	s := <-api.streams
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	id := &rpc.AttemptID{InstanceId: 1, Number: 1}
	ask := func(q *rpc.LogQuery) *rpc.LogAnswer {
		t.Helper()
		q.Id, q.Attempt = 5, id
		if err := s.Send(q); err != nil {
			t.Fatal(err)
		}
		a, err := answer(s)
		if err != nil || a.Id != 5 {
			t.Fatalf("answer = %v, %v", a, err)
		}
		return a
	}
	a := ask(&rpc.LogQuery{Stream: "stdout", Line: 30_001, Search: &rpc.LogSearch{Text: "^LINE \\d*99$", Regexp: true, Count: true, Limit: 2}})
	if f := a.Found; a.Error != "" || f.GetTotal() != 600 || !f.GetWhole() || len(f.GetHits()) != 2 || f.Hits[0].Line != 30_099 || f.Hits[0].Number != 301 {
		t.Errorf("found %v", a)
	}
	a = ask(&rpc.LogQuery{Offset: 1 << 62, Search: &rpc.LogSearch{Text: "error", Backward: true, Limit: 1}})
	if f := a.Found; len(f.GetHits()) != 1 || f.Hits[0].Text != "Error: 5" || f.Hits[0].Length != 5 {
		t.Errorf("the last error = %v", a)
	}
	if a = ask(&rpc.LogQuery{Search: &rpc.LogSearch{Text: "(", Regexp: true}}); !strings.HasPrefix(a.Error, "bad_pattern: ") {
		t.Errorf("a bad expression = %v", a)
	}
	if a = ask(&rpc.LogQuery{Stream: "stdout", Line: 59_999, Lines: 1}); string(a.Data) != "line 59999\n" || a.Line != 59_999 || a.Newlines != 60_000 {
		t.Errorf("line 59999 = %v", a)
	}
	id = &rpc.AttemptID{InstanceId: 99, Number: 1}
	if a = ask(&rpc.LogQuery{Search: &rpc.LogSearch{Text: "x"}}); a.Error != "not_found" {
		t.Errorf("an unknown attempt = %v", a)
	}
}
