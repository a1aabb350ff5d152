package main

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master"
)

// lateMaster stands at the port until the master behind it is made: a master must know
// its address to be made, and with port 0 the listener knows it first. Nobody is told
// the address before, so nobody is turned away.
type lateMaster struct {
	rpc.UnimplementedMasterServer
	master atomic.Pointer[master.Master]
}

func (l *lateMaster) register(s *grpc.Server) { rpc.RegisterMasterServer(s, l) }

func (l *lateMaster) set(m *master.Master) { l.master.Store(m) }

func (l *lateMaster) get() (*master.Master, error) {
	if m := l.master.Load(); m != nil {
		return m, nil
	}
	return nil, status.Error(codes.Unavailable, "the master is starting")
}

// Work implements rpc.MasterServer for workers.
func (l *lateMaster) Work(stream rpc.Master_WorkServer) error {
	m, err := l.get()
	if err != nil {
		return err
	}
	return m.Work(stream)
}

// Watch implements rpc.MasterServer for apiservers.
func (l *lateMaster) Watch(stream rpc.Master_WatchServer) error {
	m, err := l.get()
	if err != nil {
		return err
	}
	return m.Watch(stream)
}

// Join implements rpc.MasterServer for new nodes.
func (l *lateMaster) Join(ctx context.Context, request *rpc.JoinRequest) (*rpc.JoinResponse, error) {
	m, err := l.get()
	if err != nil {
		return nil, err
	}
	return m.Join(ctx, request)
}
