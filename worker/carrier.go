package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/artifact"
	"github.com/porpoise/porpoise/worker/task"
)

const (
	// maxTransfers bounds the attempts whose artifacts move at a time; the others wait for their turn.
	maxTransfers = 4
	// maxPartBytes is what of a file goes into one message, far below the limit of 4 MiB.
	maxPartBytes = 1 << 20
	// transferFirst and transferMost bound the wait before a transfer is tried again, at another master if there is one.
	transferFirst = 100 * time.Millisecond
	transferMost  = 2 * time.Second
)

// carrier is the Carrier of a loop: one goroutine for each transfer.
type carrier struct {
	loop  *loop
	root  string
	turns chan struct{}
	all   sync.WaitGroup

	ctx  context.Context //nolint:containedctx // ends with the worker
	stop context.CancelFunc

	mu      sync.Mutex // guards what follows
	folders map[string]*carried
}

// carried is an attempt that has a folder. cancel is nil while nothing moves.
type carried struct {
	*artifact.Folder
	artifacts []string
	cancel    context.CancelFunc
}

// newCarrier finds the folders that an earlier process has left.
func newCarrier(l *loop, dataDir string) (*carrier, error) {
	root, err := filepath.Abs(filepath.Join(dataDir, "artifacts"))
	if err != nil {
		return nil, fmt.Errorf("open the folder of artifacts: %w", err)
	}
	c := &carrier{loop: l, root: root, turns: make(chan struct{}, maxTransfers), folders: map[string]*carried{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	marks, err := artifact.Marks(root)
	if err != nil {
		return nil, fmt.Errorf("open the folder of artifacts: %w", err)
	}
	for _, mark := range marks {
		folder, artifacts, err := artifact.Open(root, mark)
		if err != nil {
			// It was being made or deleted: its attempt had no process.
			_ = os.RemoveAll(filepath.Join(root, mark))
			continue
		}
		c.folders[mark] = &carried{Folder: folder, artifacts: artifacts}
	}
	return c, nil
}

// end ends all transfers and waits for them.
func (c *carrier) end() {
	c.stop()
	c.all.Wait()
}

// Owes implements Carrier.
func (c *carrier) Owes(mark string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.folders[mark]
	return f != nil && len(f.artifacts) > 0
}

// Cancel implements Carrier.
func (c *carrier) Cancel(mark string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.folders[mark]; f != nil && f.cancel != nil {
		f.cancel()
	}
}

// Drop implements Carrier.
func (c *carrier) Drop(mark string) {
	c.mu.Lock()
	f := c.folders[mark]
	delete(c.folders, mark)
	c.mu.Unlock()
	if f == nil || f.Folder == nil {
		return
	}
	c.all.Go(func() {
		if err := f.Delete(); err != nil {
			c.loop.log.Warn("artifacts not deleted", "error", err)
		}
	})
}

// Retain implements Carrier.
func (c *carrier) Retain(keep func(mark string) bool) {
	c.mu.Lock()
	var gone []string
	for mark := range c.folders {
		if !keep(mark) {
			gone = append(gone, mark)
		}
	}
	c.mu.Unlock()
	for _, mark := range gone {
		c.Drop(mark)
	}
}

// begin notes that something moves for an attempt and gives it its turn.
func (c *carrier) begin(mark string, work func(ctx context.Context, f *carried)) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	f := c.folders[mark]
	if f == nil {
		f = &carried{}
		c.folders[mark] = f
	}
	f.cancel = cancel
	c.mu.Unlock()
	c.all.Go(func() {
		defer cancel()
		select {
		case c.turns <- struct{}{}:
			defer func() { <-c.turns }()
		case <-ctx.Done():
		}
		work(ctx, f)
	})
}

// Fetch implements Carrier.
func (c *carrier) Fetch(mark string, attempt *rpc.AttemptID, files *rpc.Files) {
	c.begin(mark, func(ctx context.Context, f *carried) {
		folder, err := artifact.Make(c.root, mark, files.GetArtifacts())
		var env []string
		if err == nil {
			c.mu.Lock()
			f.Folder, f.artifacts = folder, files.GetArtifacts()
			c.mu.Unlock()
			env = []string{"PORPOISE_ARTIFACTS=" + folder.Left(), "PORPOISE_INPUTS=" + folder.Inputs()}
		}
		for _, in := range files.GetInputs() {
			if err == nil {
				err = c.again(ctx, mark, func(master rpc.MasterClient) error { return fetchInput(ctx, master, attempt, in, folder) })
			}
		}
		c.loop.post(context.Background(), func(l *loop) { l.Fetched(mark, env, err) })
	})
}

// fetchInput brings one input. A *task.Error says that it can't be had.
func fetchInput(ctx context.Context, master rpc.MasterClient, attempt *rpc.AttemptID, in *rpc.Input, folder *artifact.Folder) error {
	ctx, cancel := context.WithCancel(ctx) // a stream that is not read to its end
	defer cancel()
	what := in.GetTaskName() + "/" + in.GetName()
	stream, err := master.ReadArtifacts(ctx, &rpc.ArtifactQuery{Attempt: attempt, Input: in})
	if err != nil {
		return err
	}
	to, err := folder.Fill(in.GetTaskName())
	if err != nil {
		return &task.Error{Reason: artifact.ReasonInput, Message: fmt.Sprintf("input %q: %v", what, err)}
	}
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			if err = to.Take(part); err == nil {
				continue
			}
			if !errors.Is(err, artifact.ErrDamaged) {
				err = &task.Error{Reason: artifact.ReasonInput, Message: fmt.Sprintf("input %q: %v", what, err)}
			}
		} else if status.Code(err) == codes.NotFound {
			err = &task.Error{Reason: artifact.ReasonInput, Message: fmt.Sprintf("the task uses %q, which is not there: task %q has not left it with a success of this instance", what, in.GetTaskName())}
		}
		_ = to.Close()
		return err
	}
	return to.Close()
}

// Send implements Carrier.
func (c *carrier) Send(mark string, attempt *rpc.AttemptID) {
	c.begin(mark, func(ctx context.Context, f *carried) {
		files, err := f.Collect(f.artifacts)
		if err == nil {
			err = c.again(ctx, mark, func(master rpc.MasterClient) error { return sendFiles(ctx, master, attempt, f.Folder, files) })
		}
		c.loop.post(context.Background(), func(l *loop) { l.Sent(mark, err) })
	})
}

// sendFiles sends all files of an attempt in one stream. A *task.Error says that they can't be kept.
func sendFiles(ctx context.Context, master rpc.MasterClient, attempt *rpc.AttemptID, folder *artifact.Folder, files []string) error {
	ctx, cancel := context.WithCancel(ctx) // a stream that is not sent to its end
	defer cancel()
	stream, err := master.KeepArtifacts(ctx)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder.Left())
	if err != nil {
		return &task.Error{Reason: artifact.ReasonMissing, Message: "the folder $PORPOISE_ARTIFACTS is gone"}
	}
	defer func() { _ = root.Close() }()
	err = stream.Send(&rpc.ArtifactPart{Attempt: attempt})
	for _, name := range files {
		if err == nil {
			err = sendFile(stream, root, name)
		}
	}
	if te, ok := errors.AsType[*task.Error](err); ok {
		return te
	}
	// Where sending broke off, the answer says why.
	_, err = stream.CloseAndRecv()
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound:
		return &task.Error{Reason: artifact.ReasonRefused, Message: status.Convert(err).Message()}
	}
	return err
}

func sendFile(stream grpc.ClientStreamingClient[rpc.ArtifactPart, rpc.ArtifactsKept], root *os.Root, name string) error {
	file, err := root.Open(name)
	if err != nil {
		return &task.Error{Reason: artifact.ReasonMissing, Message: fmt.Sprintf("the artifact %q can't be read: %v", name, err)}
	}
	defer func() { _ = file.Close() }()
	if err := stream.Send(&rpc.ArtifactPart{Name: name}); err != nil {
		return err
	}
	hash := sha256.New()
	buffer := make([]byte, maxPartBytes)
	for {
		n, err := file.Read(buffer)
		if n > 0 {
			_, _ = hash.Write(buffer[:n]) // a hash takes everything
			if err := stream.Send(&rpc.ArtifactPart{Data: buffer[:n]}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return stream.Send(&rpc.ArtifactPart{Sha256: hash.Sum(nil)})
		}
		if err != nil {
			return &task.Error{Reason: artifact.ReasonMissing, Message: fmt.Sprintf("the artifact %q can't be read: %v", name, err)}
		}
	}
}

// again calls masters until one has done the work, says that it can't be done, or ctx ends: first the one that owns the
// attempt, then each in turn.
func (c *carrier) again(ctx context.Context, mark string, work func(rpc.MasterClient) error) error {
	pause := transferFirst
	for try := 0; ; try++ {
		master, err := c.master(ctx, mark, try)
		if err == nil && master != nil {
			err = work(master)
			if _, final := errors.AsType[*task.Error](err); err == nil || final {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.loop.log.Warn("artifacts not transferred, trying again", "mark", mark, "error", err)
		wait(ctx, pause/2+rand.N(pause/2+1))
		pause = min(transferMost, pause*2)
	}
}

// master is the one to ask at a try, nil where none is linked.
func (c *carrier) master(ctx context.Context, mark string, try int) (rpc.MasterClient, error) {
	answer := make(chan rpc.MasterClient, 1)
	asked := c.loop.post(ctx, func(l *loop) {
		node := ""
		if a := l.attempts[mark]; a != nil && try%2 == 0 {
			node = a.owner
		}
		if l.links[node] == nil && len(l.routes) > 0 {
			node = l.routes[try%len(l.routes)]
		}
		var master rpc.MasterClient
		if o := l.links[node]; o != nil {
			if link, ok := o.Link.(*link); ok {
				master = rpc.NewMasterClient(link.conn)
			}
		}
		answer <- master
	})
	if !asked {
		return nil, ctx.Err()
	}
	select {
	case master := <-answer:
		return master, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
