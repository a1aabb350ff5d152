package sql

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
)

// Page says which part of a list is wanted. Cursor is what the part before returned, "" for the
// first; Limit is clamped to 1..200, 0 is 50.
type Page struct {
	Cursor string
	Limit  int
}

const (
	defaultLimit = 50
	maxLimit     = 200
	// maxCursor is longer than any cursor that we make.
	maxCursor = 4096
)

func (p Page) limit() int {
	if p.Limit <= 0 {
		return defaultLimit
	}
	return min(p.Limit, maxLimit)
}

// A cursor is the name of its list and the key of the last row, in JSON and base64: opaque to
// its holder, and refused where another list made it. It grants nothing: every list applies
// its filters again.
type cursor struct {
	List string          `json:"l"`
	Key  json.RawMessage `json:"k"`
}

type keyCursor struct{ Key int64 }

type nameCursor struct{ Name string }

func (p Page) decode(list string, key any) error {
	if p.Cursor == "" {
		return nil
	}
	if len(p.Cursor) > maxCursor {
		return fmt.Errorf("%w: too long", ErrBadCursor)
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(p.Cursor)
	if err != nil {
		return fmt.Errorf("%w: not base64", ErrBadCursor)
	}
	var c cursor
	if err := strict(text, &c); err != nil || c.List != list {
		return fmt.Errorf("%w: not of this list", ErrBadCursor)
	}
	if err := strict(c.Key, key); err != nil {
		return fmt.Errorf("%w: its key is not one", ErrBadCursor)
	}
	return nil
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("trailing data")
	}
	return nil
}

func encodeCursor(list string, key any) (string, error) {
	k, err := json.Marshal(key)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	text, err := json.Marshal(cursor{list, k})
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(text), nil
}

// cut drops the row beyond limit, whose being there says that a next page exists.
func cut[T any](rows []T, limit int, list string, key func(T) any) ([]T, string, error) {
	if len(rows) <= limit {
		return rows, "", nil
	}
	rows = rows[:limit]
	next, err := encodeCursor(list, key(rows[limit-1]))
	return rows, next, err
}
