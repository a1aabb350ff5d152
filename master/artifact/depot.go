package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// maxTransfers bounds the transfers under way: each holds a chunk in memory. The others wait for their turn; their
// senders are held back by the stream itself.
const maxTransfers = 16

// Store keeps the files. *sql.Store is one; its own comments say which errors mean what.
type Store interface {
	BeginArtifacts(ctx context.Context, of sql.Bearer) (kept bool, err error)
	PutArtifactChunk(ctx context.Context, of sql.Bearer, number, chunk int, data []byte) error
	KeepArtifacts(ctx context.Context, of sql.Bearer, files []sql.Artifact) error
	UsedArtifacts(ctx context.Context, by sql.Bearer, task int, name string) ([]sql.Artifact, error)
	ArtifactChunk(ctx context.Context, a sql.Artifact, chunk int) ([]byte, error)
}

// Depot serves the transfers of one master. It is safe for concurrent use.
type Depot struct {
	store Store
	turns chan struct{}
}

// New returns a Depot without transfers.
func New(store Store) *Depot { return &Depot{store: store, turns: make(chan struct{}, maxTransfers)} }

// turn waits for one; done gives it back.
func (d *Depot) turn(ctx context.Context) (done func(), err error) {
	select {
	case d.turns <- struct{}{}:
		return func() { <-d.turns }, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// Keep implements rpc.MasterServer's KeepArtifacts. InvalidArgument and NotFound say that the attempt can't have such
// artifacts, however often they are sent.
func (d *Depot) Keep(stream rpc.Master_KeepArtifactsServer) error {
	ctx := stream.Context()
	done, err := d.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	in := &intake{store: d.store, of: bearerOf(first.GetAttempt())}
	kept, err := d.store.BeginArtifacts(ctx, in.of)
	if err != nil {
		return coded(err)
	}
	if kept {
		return stream.SendAndClose(&rpc.ArtifactsKept{})
	}
	for part := first; ; {
		if err := in.take(ctx, part); err != nil {
			return coded(err)
		}
		if part, err = stream.Recv(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	if in.hash != nil {
		return status.Error(codes.InvalidArgument, "the stream ends within a file")
	}
	if err := d.store.KeepArtifacts(ctx, in.of, in.files); err != nil {
		return coded(err)
	}
	return stream.SendAndClose(&rpc.ArtifactsKept{})
}

// Read implements rpc.MasterServer's ReadArtifacts. NotFound says that there is nothing to use.
func (d *Depot) Read(query *rpc.ArtifactQuery, stream rpc.Master_ReadArtifactsServer) error {
	ctx := stream.Context()
	done, err := d.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	in := query.GetInput()
	files, err := d.store.UsedArtifacts(ctx, bearerOf(query.GetAttempt()), int(in.GetTask()), in.GetName())
	if err != nil {
		return coded(err)
	}
	for _, f := range files {
		sum, err := hex.DecodeString(f.SHA256)
		if err != nil {
			return fmt.Errorf("read the hash of artifact %q: %w", f.Name, err)
		}
		if err := stream.Send(&rpc.ArtifactPart{Name: f.Name}); err != nil {
			return err
		}
		for chunk := range f.Chunks() {
			data, err := d.store.ArtifactChunk(ctx, f, chunk)
			if err != nil {
				return coded(err)
			}
			if err := stream.Send(&rpc.ArtifactPart{Data: data}); err != nil {
				return err
			}
		}
		if err := stream.Send(&rpc.ArtifactPart{Sha256: sum}); err != nil {
			return err
		}
	}
	return nil
}

func bearerOf(a *rpc.AttemptID) sql.Bearer {
	return sql.Bearer{
		AttemptKey: sql.AttemptKey{InstanceID: a.GetInstanceId(), Task: int(a.GetTask()), Attempt: int(a.GetNumber())}, Token: a.GetToken(),
	}
}

// coded gives an error the code by which a worker decides whether to try again.
func coded(err error) error {
	switch {
	case errors.Is(err, errRefused):
		return status.Error(codes.InvalidArgument, err.Error())
	case errors.Is(err, sql.ErrNotFound):
		return status.Error(codes.NotFound, err.Error())
	}
	return status.Error(codes.Unavailable, err.Error())
}

// errRefused is wrapped by what is wrong with artifacts themselves.
var errRefused = errors.New("artifacts refused")

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errRefused, fmt.Sprintf(format, args...))
}

// intake puts one stream of files into the store. One goroutine uses it.
type intake struct {
	store Store
	of    sql.Bearer
	files []sql.Artifact
	total int64

	// Of the file under way; hash is nil between two files.
	hash   hash.Hash
	buffer []byte // the chunk that is not full yet
	chunk  int
}

// take takes one part of the stream.
func (in *intake) take(ctx context.Context, part *rpc.ArtifactPart) error {
	if part.GetName() != "" {
		if err := in.begin(part.GetName()); err != nil {
			return err
		}
	}
	if len(part.GetData()) > 0 {
		if err := in.add(ctx, part.GetData()); err != nil {
			return err
		}
	}
	if len(part.GetSha256()) > 0 {
		return in.end(ctx, part.GetSha256())
	}
	return nil
}

func (in *intake) begin(name string) error {
	fault := dag.ArtifactFault(name)
	switch {
	case in.hash != nil:
		return refused("%q begins within another file", name)
	case fault != "":
		return refused("%.300q: %s", name, fault)
	case name[len(name)-1] == '/':
		return refused("%q is a folder", name)
	case len(in.files) >= dag.MaxArtifacts:
		return refused("an attempt leaves at most %d files", dag.MaxArtifacts)
	}
	for i := range in.files {
		if in.files[i].Name == name {
			return refused("%q comes twice", name)
		}
	}
	in.files = append(in.files, sql.Artifact{Name: name})
	in.hash, in.buffer, in.chunk = sha256.New(), in.buffer[:0], 0
	return nil
}

func (in *intake) add(ctx context.Context, data []byte) error {
	if in.hash == nil {
		return refused("data of no file")
	}
	if in.total += int64(len(data)); in.total > dag.MaxArtifactBytes {
		return refused("the files of an attempt are at most %d MiB together", dag.MaxArtifactBytes>>20)
	}
	in.files[len(in.files)-1].Size += int64(len(data))
	_, _ = in.hash.Write(data) // a hash takes everything
	for len(data) > 0 {
		n := min(len(data), sql.MaxArtifactChunk-len(in.buffer))
		in.buffer, data = append(in.buffer, data[:n]...), data[n:]
		if len(in.buffer) == sql.MaxArtifactChunk {
			if err := in.put(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *intake) put(ctx context.Context) error {
	err := in.store.PutArtifactChunk(ctx, in.of, len(in.files)-1, in.chunk, in.buffer)
	in.buffer, in.chunk = in.buffer[:0], in.chunk+1
	return err
}

func (in *intake) end(ctx context.Context, sum []byte) error {
	if in.hash == nil {
		return refused("the end of no file")
	}
	f := &in.files[len(in.files)-1]
	if own := in.hash.Sum(nil); !bytes.Equal(own, sum) {
		return fmt.Errorf("artifact %q came damaged: its SHA-256 is %x, want %x", f.Name, own, sum)
	}
	f.SHA256 = hex.EncodeToString(sum)
	in.hash = nil
	if len(in.buffer) > 0 {
		return in.put(ctx)
	}
	return nil
}
