package worker

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/journal"
)

// The kinds of record in the outbox's journal.
const (
	recordReport byte = 1 // a report that waits for its ack
	recordGone   byte = 2 // its id: it was acked
	recordBegun  byte = 3 // a call is about to go out
	recordNext   byte = 4 // the next id
	recordLife   byte = 5 // the cluster's generation that all of it is from
)

// rewriteBytes is the size from which the journal is rewritten, if most of it is gone.
const rewriteBytes = 4 << 20

// kept is the outbox on disk. Reports of a start are not in it: after a crash the runner
// knows what runs. Calls are: one that had begun must not go out twice.
type kept struct {
	file    Disk
	reports map[int64]*rpc.Report
	begun   map[string]*rpc.AttemptID // by mark
	nextID  int64
	life    int64 // the cluster's generation
	bytes   int64
	batch   []journal.Record
}

// openKept reads what an earlier process left.
func openKept(disk OpenDisk) (*kept, error) {
	k := &kept{reports: map[int64]*rpc.Report{}, begun: map[string]*rpc.AttemptID{}, nextID: 1, life: 1}
	var err error
	if k.file, err = disk(k.replay); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	return k, nil
}

func (k *kept) replay(kind byte, data []byte) error {
	switch kind {
	case recordReport:
		r := &rpc.Report{}
		if err := proto.Unmarshal(data, r); err != nil {
			return fmt.Errorf("decode report: %w", err)
		}
		k.hold(r, len(data))
	case recordGone:
		if id, n := binary.Uvarint(data); n > 0 {
			delete(k.reports, int64(id))
		}
	case recordBegun:
		a := &rpc.AttemptID{}
		if err := proto.Unmarshal(data, a); err != nil {
			return fmt.Errorf("decode attempt: %w", err)
		}
		k.begun[markOf(a)] = a
	case recordNext:
		if id, n := binary.Uvarint(data); n > 0 {
			k.nextID = max(k.nextID, int64(id))
		}
	case recordLife:
		if life, n := binary.Uvarint(data); n > 0 {
			k.life = int64(life)
		}
	}
	return nil
}

func (k *kept) hold(r *rpc.Report, size int) {
	k.reports[r.OutboxId] = r
	k.nextID = max(k.nextID, r.OutboxId+1)
	delete(k.begun, markOf(r.Attempt))
	k.bytes += int64(size)
}

// report takes a finish into the next write.
func (k *kept) report(r *rpc.Report) error {
	data, err := proto.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	k.hold(r, len(data))
	k.batch = append(k.batch, journal.Record{Kind: recordReport, Data: data})
	return nil
}

// gone takes an acked report out, with the next write.
func (k *kept) gone(id int64) {
	if r := k.reports[id]; r != nil {
		k.bytes -= int64(proto.Size(r))
		delete(k.reports, id)
		k.batch = append(k.batch, journal.Record{Kind: recordGone, Data: binary.AppendUvarint(nil, uint64(id))})
	}
}

// enter notes that a generation of the cluster has begun.
func (k *kept) enter(life int64) {
	k.life = life
	k.batch = append(k.batch, journal.Record{Kind: recordLife, Data: binary.AppendUvarint(nil, uint64(life))})
}

// begin takes a call that is about to go out into the next write.
func (k *kept) begin(a *rpc.AttemptID) error {
	data, err := proto.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode attempt: %w", err)
	}
	k.begun[markOf(a)] = a
	k.batch = append(k.batch, journal.Record{Kind: recordBegun, Data: data})
	return nil
}

// write puts the batch on disk, with one write.
func (k *kept) write() error {
	if len(k.batch) == 0 {
		return nil
	}
	if err := failpoint.Hit("journal.sync.before"); err != nil {
		return err
	}
	if err := k.file.Append(k.batch...); err != nil {
		return err // the batch stays: it is written with the next one
	}
	_ = failpoint.Hit("journal.sync.after")
	k.batch = k.batch[:0]
	if size := k.file.Size(); size < rewriteBytes || size < 4*k.bytes {
		return nil
	}
	return k.rewrite()
}

func (k *kept) rewrite() error {
	records := []journal.Record{
		{Kind: recordNext, Data: binary.AppendUvarint(nil, uint64(k.nextID))},
		{Kind: recordLife, Data: binary.AppendUvarint(nil, uint64(k.life))},
	}
	for _, mark := range sorted(k.begun) {
		data, err := proto.Marshal(k.begun[mark])
		if err != nil {
			return fmt.Errorf("encode attempt: %w", err)
		}
		records = append(records, journal.Record{Kind: recordBegun, Data: data})
	}
	k.bytes = 0
	for _, id := range sorted(k.reports) {
		data, err := proto.Marshal(k.reports[id])
		if err != nil {
			return fmt.Errorf("encode report: %w", err)
		}
		k.bytes += int64(len(data))
		records = append(records, journal.Record{Kind: recordReport, Data: data})
	}
	return k.file.Rewrite(records)
}
