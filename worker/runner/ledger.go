package runner

import (
	"fmt"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/worker/journal"
)

// rewriteBytes is the size from which the journal is worth a rewrite; it is done when
// the file is also four times what is alive in it.
const rewriteBytes = 4 << 20

// ledger is what the runner must know after a crash of its own: which attempts were
// accepted, as which processes they were born, how they ended. An attempt leaves it when
// the control process has kept its end.
type ledger struct {
	file  *journal.File
	live  map[string]*lifeline
	bytes int64 // of what is alive
	batch []journal.Record
}

type lifeline struct {
	accepted *Accepted
	born     *Born
	exit     *Exit
	bytes    int64
}

func openLedger(dir string) (*ledger, error) {
	l := &ledger{live: map[string]*lifeline{}}
	file, err := journal.Open(filepath.Join(dir, "runner.journal"), func(_ byte, data []byte) error {
		var e Entry
		if err := proto.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("decode entry: %w", err)
		}
		l.apply(&e, int64(len(data)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.file = file
	return l, nil
}

func (l *ledger) apply(e *Entry, size int64) {
	mark := e.GetForgotten()
	switch {
	case mark != "":
		if line := l.live[mark]; line != nil {
			l.bytes -= line.bytes
			delete(l.live, mark)
		}
		return
	case e.Accepted != nil:
		mark = e.Accepted.Mark
	case e.Born != nil:
		mark = e.Born.Mark
	case e.Exit != nil:
		mark = e.Exit.Mark
	default:
		return // of a newer runner
	}
	line := l.live[mark]
	if line == nil {
		line = &lifeline{}
		l.live[mark] = line
	}
	switch {
	case e.Accepted != nil:
		line.accepted = e.Accepted
	case e.Born != nil:
		line.born = e.Born
	case e.Exit != nil:
		line.exit = e.Exit
	}
	line.bytes += size
	l.bytes += size
}

// add takes an entry into the next write.
func (l *ledger) add(e *Entry) error {
	data, err := proto.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode entry: %w", err)
	}
	l.apply(e, int64(len(data)))
	l.batch = append(l.batch, journal.Record{Kind: 1, Data: data})
	return nil
}

// write puts the added entries on disk, with one write.
func (l *ledger) write() error {
	if len(l.batch) == 0 {
		return nil
	}
	err := l.file.Append(l.batch...)
	l.batch = l.batch[:0]
	if err != nil {
		return err
	}
	if size := l.file.Size(); size < rewriteBytes || size < 4*l.bytes {
		return nil
	}
	return l.rewrite()
}

func (l *ledger) rewrite() error {
	var records []journal.Record
	l.bytes = 0
	for _, line := range l.live {
		line.bytes = 0
		for _, e := range []*Entry{{Accepted: line.accepted}, {Born: line.born}, {Exit: line.exit}} {
			if e.Accepted == nil && e.Born == nil && e.Exit == nil {
				continue
			}
			data, err := proto.Marshal(e)
			if err != nil {
				return fmt.Errorf("encode entry: %w", err)
			}
			line.bytes += int64(len(data))
			records = append(records, journal.Record{Kind: 1, Data: data})
		}
		l.bytes += line.bytes
	}
	return l.file.Rewrite(records)
}
