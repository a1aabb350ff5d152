package evidence

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Change is a change of the registry, or a gap in what was seen of it.
type Change struct {
	At    int64  `json:"at"`
	Rev   int64  `json:"rev"`
	Op    string `json:"op"` // put, delete, gap
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
	Lease int64  `json:"lease,omitempty"`
}

const (
	watchPrefix = "/porpoise/"
	watchPause  = 500 * time.Millisecond
)

// Watch writes every change of the registry until ctx ends. It goes to the members
// themselves, past the proxies, and goes on where it was when they come back.
func Watch(ctx context.Context, endpoints []string, f *File) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 2 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	for from := int64(1); ctx.Err() == nil; {
		life, stop := context.WithCancel(clientv3.WithRequireLeader(ctx))
		for resp := range client.Watch(life, watchPrefix, clientv3.WithPrefix(), clientv3.WithRev(from)) {
			if resp.CompactRevision > from {
				f.Write(Change{At: time.Now().UnixMilli(), Rev: resp.CompactRevision, Op: "gap"})
				from = resp.CompactRevision
			}
			for _, ev := range resp.Events {
				op := "put"
				if ev.Type == clientv3.EventTypeDelete {
					op = "delete"
				}
				f.Write(Change{At: time.Now().UnixMilli(), Rev: ev.Kv.ModRevision, Op: op, Key: string(ev.Kv.Key), Value: string(ev.Kv.Value), Lease: ev.Kv.Lease})
				from = ev.Kv.ModRevision + 1
			}
			if resp.Err() != nil {
				break
			}
		}
		stop()
		select {
		case <-ctx.Done():
		case <-time.After(watchPause):
		}
	}
	return nil
}
