package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// MaxArtifactChunk bounds the bytes of one row of an artifact, well under what a database takes in one statement.
const MaxArtifactChunk = 1 << 20

// Bearer is an attempt that shows its token. Only it may write its artifacts and read what it uses.
type Bearer struct {
	AttemptKey
	Token string
}

// Artifact is a file that an attempt has left.
type Artifact struct {
	InstanceID int64
	Task       int
	Attempt    int
	Number     int // among the files of its attempt, from 0
	Name       string
	Size       int64  // bytes
	SHA256     string // of all bytes, in hexadecimal digits
	CreatedAt  dag.Millis
}

const selectArtifacts = `SELECT instance_id, task_index, attempt, number, name, size, sha256, created_at FROM artifact`

func scanArtifact(scan func(...any) error) (a Artifact, err error) {
	return a, scan(&a.InstanceID, &a.Task, &a.Attempt, &a.Number, &a.Name, &a.Size, &a.SHA256, &a.CreatedAt)
}

var artifactInsert = &table{
	name: "artifact", cols: []string{"instance_id", "task_index", "attempt", "number", "name", "size", "sha256", "created_at"},
}

// BeginArtifacts makes room for the artifacts of an attempt: what is there of a transfer that broke off is deleted.
// kept says that the attempt has its artifacts already: then nothing is to be put. It returns ErrNotFound where there is
// no such attempt, or one that can't succeed any more.
func (s *Store) BeginArtifacts(ctx context.Context, of Bearer) (kept bool, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		if kept, err = s.lockArtifacts(ctx, tx, of); err != nil || kept {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM artifact_chunk WHERE instance_id = ? AND task_index = ? AND attempt = ?`, of.InstanceID, of.Task, of.Attempt)
		return err
	})
	return kept, of.failed("begin artifacts", err)
}

// PutArtifactChunk stores a part of the file with that number, of MaxArtifactChunk bytes but for the last part. The
// same part may be put again. Nobody sees it before KeepArtifacts. It returns ErrNotFound as BeginArtifacts does.
func (s *Store) PutArtifactChunk(ctx context.Context, of Bearer, number, chunk int, data []byte) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		if kept, err := s.lockArtifacts(ctx, tx, of); err != nil || kept {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO artifact_chunk (instance_id, task_index, attempt, number, chunk, data) VALUES (?, ?, ?, ?, ?, ?)`+
			s.dial.onConflict("instance_id, task_index, attempt, number, chunk")+`data = `+s.dial.given("data"),
			of.InstanceID, of.Task, of.Attempt, number, chunk, data)
		return err
	})
	return of.failed("put a chunk of an artifact", err)
}

// KeepArtifacts makes the files whose chunks were put the artifacts of the attempt: all of them, in this order, or
// none. Only Name, Size and SHA256 of each count. It returns ErrStale where the chunks are not those of these files,
// and ErrNotFound as BeginArtifacts does. What is kept already stays as it is.
func (s *Store) KeepArtifacts(ctx context.Context, of Bearer, files []Artifact) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		kept, err := s.lockArtifacts(ctx, tx, of)
		if err != nil || kept {
			return err
		}
		if err := chunksFit(ctx, tx, of, files); err != nil {
			return err
		}
		var rows []any
		for i, f := range files {
			rows = append(rows, of.InstanceID, int64(of.Task), int64(of.Attempt), int64(i), f.Name, f.Size, f.SHA256, int64(s.millis()))
		}
		b := &batch{s: s, tx: plainTx{tx, s}}
		return b.rows(ctx, artifactInsert, s.dial.insert, rows)
	})
	return of.failed("keep artifacts", err)
}

// chunksFit says whether the chunks of an attempt are those of the files.
func chunksFit(ctx context.Context, tx *sqlTx, of Bearer, files []Artifact) error {
	rows, err := tx.QueryContext(ctx, `SELECT number, COUNT(*), SUM(LENGTH(data)) FROM artifact_chunk
		WHERE instance_id = ? AND task_index = ? AND attempt = ? GROUP BY number`, of.InstanceID, of.Task, of.Attempt)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := 0 // files that have chunks
	for rows.Next() {
		var number, chunks int
		var size int64
		if err := rows.Scan(&number, &chunks, &size); err != nil {
			return err
		}
		if number >= len(files) || size != files[number].Size || chunks != artifactChunks(size) {
			return ErrStale
		}
		found++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range files {
		if files[i].Size > 0 {
			found--
		}
	}
	if found != 0 {
		return ErrStale
	}
	return nil
}

// artifactChunks is how many chunks a file of that size has.
func artifactChunks(size int64) int { return int((size + MaxArtifactChunk - 1) / MaxArtifactChunk) }

// Chunks is how many chunks the artifact has.
func (a *Artifact) Chunks() int { return artifactChunks(a.Size) }

// lockArtifacts lets nobody else write artifacts of an attempt, nor delete it, until the transaction ends. kept says
// that the attempt has its artifacts. An attempt that was called lost may still succeed.
func (s *Store) lockArtifacts(ctx context.Context, tx *sqlTx, of Bearer) (kept bool, err error) {
	if of.Token == "" {
		return false, ErrNotFound // an attempt that runs in the master has none either
	}
	var state dag.AttemptState
	err = tx.QueryRowContext(ctx, `SELECT state FROM task_attempt WHERE instance_id = ? AND task_index = ? AND number = ? AND token = ?`+s.dial.forUpdate(),
		of.InstanceID, of.Task, of.Attempt, of.Token).Scan(&state)
	if err != nil {
		return false, err
	}
	var n int
	err = tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM artifact WHERE instance_id = ? AND task_index = ? AND attempt = ?`, of.InstanceID, of.Task, of.Attempt).Scan(&n)
	if err != nil || n > 0 {
		return n > 0, err
	}
	switch state {
	case dag.AttemptFailed, dag.AttemptKilled, dag.AttemptReturned, dag.AttemptSuccess:
		return false, ErrNotFound
	case dag.AttemptDispatched, dag.AttemptRunning, dag.AttemptKilling, dag.AttemptLost:
	}
	return false, nil
}

// failed says of an error what was being done.
func (k AttemptKey) failed(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s of attempt %d of task %d of instance %d: %w", doing, k.Attempt, k.Task, k.InstanceID, explain(err))
	}
	return nil
}

// Artifacts returns what the attempts of a task have left, by attempt and number.
func (s *Store) Artifacts(ctx context.Context, instanceID int64, task int) ([]Artifact, error) {
	out, err := collect(ctx, s, scanArtifact, selectArtifacts+` WHERE instance_id = ? AND task_index = ? ORDER BY attempt, number`, instanceID, task)
	if err != nil {
		return nil, fmt.Errorf("read artifacts of task %d of instance %d: %w", task, instanceID, err)
	}
	return out, nil
}

// ArtifactChunk returns a part of an artifact: the chunk with that number, from 0 to Chunks()-1. It returns
// ErrNotFound where the artifact was deleted.
func (s *Store) ArtifactChunk(ctx context.Context, a Artifact, chunk int) ([]byte, error) {
	found, err := collect(ctx, s, func(scan func(...any) error) (data []byte, err error) { return data, scan(&data) },
		`SELECT data FROM artifact_chunk WHERE instance_id = ? AND task_index = ? AND attempt = ? AND number = ? AND chunk = ?`,
		a.InstanceID, a.Task, a.Attempt, a.Number, chunk)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read chunk %d of artifact %q of instance %d: %w", chunk, a.Name, a.InstanceID, err)
	}
	return found[0], nil
}

// UsedArtifacts returns what an attempt uses of a task of its instance: the artifact of that name, or all in it where it
// is a folder. They are those of the task's newest success, which may be one that the instance took over from another.
// It returns ErrNotFound where the task has not succeeded, or nothing is kept under that name, and where there is no
// such attempt.
func (s *Store) UsedArtifacts(ctx context.Context, by Bearer, task int, name string) ([]Artifact, error) {
	found, err := s.usedArtifacts(ctx, by, task, name)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	return found, by.failed(fmt.Sprintf("read artifact %q of task %d for use", name, task), err)
}

func (s *Store) usedArtifacts(ctx context.Context, by Bearer, task int, name string) ([]Artifact, error) {
	var state dag.TaskState
	err := s.read.QueryRowContext(ctx, `SELECT t.state FROM task_attempt a JOIN task_instance t ON t.instance_id = a.instance_id
		WHERE a.instance_id = ? AND a.task_index = ? AND a.number = ? AND a.token = ? AND a.token <> '' AND t.task_index = ?`,
		by.InstanceID, by.Task, by.Attempt, by.Token, task).Scan(&state)
	if err != nil {
		return nil, err
	}
	if state != dag.TaskSuccess && state != dag.TaskForcedSuccess {
		return nil, nil
	}
	all, err := s.newestArtifacts(ctx, by.InstanceID, task, 0)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		var from int64
		var attempt int
		err := s.read.QueryRowContext(ctx, `SELECT from_instance_id, from_attempt FROM kept_task WHERE instance_id = ? AND task_index = ?`, by.InstanceID, task).Scan(&from, &attempt)
		if errors.Is(err, stdsql.ErrNoRows) || err == nil && attempt == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if all, err = s.newestArtifacts(ctx, from, task, attempt); err != nil {
			return nil, err
		}
	}
	var out []Artifact
	for _, a := range all {
		if dag.HasArtifact(name, a.Name) {
			out = append(out, a)
		}
	}
	return out, nil
}

// newestArtifacts returns those of the newest attempt of a task that succeeded and left some; until is the newest that
// counts, 0 for all. An attempt that was called lost may have succeeded late.
func (s *Store) newestArtifacts(ctx context.Context, instanceID int64, task, until int) ([]Artifact, error) {
	return collect(ctx, s, scanArtifact, selectArtifacts+` WHERE instance_id = ? AND task_index = ? AND attempt = (
			SELECT MAX(f.attempt) FROM artifact f JOIN task_attempt a ON a.instance_id = f.instance_id AND a.task_index = f.task_index AND a.number = f.attempt
			WHERE f.instance_id = ? AND f.task_index = ? AND (? = 0 OR f.attempt <= ?) AND a.state IN ('success', 'lost'))
		ORDER BY number`, instanceID, task, instanceID, task, until, until)
}

// sweepChunks deletes the bytes that one attempt of deleted instances has left, and returns how many rows that were: more
// at a time would hold up whoever writes.
func (s *Store) sweepChunks(ctx context.Context, rests []rest) (int, error) {
	args := make([]any, len(rests))
	for i, r := range rests {
		args[i] = r.instance
	}
	first, err := collect(ctx, s, func(scan func(...any) error) (k AttemptKey, err error) {
		return k, scan(&k.InstanceID, &k.Task, &k.Attempt)
	}, `SELECT instance_id, task_index, attempt FROM artifact_chunk WHERE instance_id IN (`+marks(len(args))+`)
		ORDER BY instance_id, task_index, attempt LIMIT 1`, args...)
	if err != nil || len(first) == 0 {
		return 0, err
	}
	k := first[0]
	return s.delete(ctx, `DELETE FROM artifact_chunk WHERE instance_id = ? AND task_index = ? AND attempt = ?`, []any{k.InstanceID, k.Task, k.Attempt})
}
