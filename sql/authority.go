package sql

import (
	"context"
	"errors"
	"fmt"
)

// CertificateAuthority returns the cluster's authority. The first caller of all has it made by
// create, which other processes may call at the same time: one result is kept, and all get it.
// The key must come sealed: the store writes it as it is.
func (s *Store) CertificateAuthority(ctx context.Context, create func() (certificate, sealedKey []byte, err error)) ([]byte, []byte, error) {
	read := func() (certificate, key []byte, err error) {
		err = s.read.QueryRowContext(ctx, `SELECT certificate, sealed_key FROM certificate_authority WHERE one = 1`).Scan(&certificate, &key)
		if err != nil {
			return nil, nil, fmt.Errorf("read certificate authority: %w", explain(err))
		}
		return certificate, key, nil
	}
	certificate, key, err := read()
	if !errors.Is(err, ErrNotFound) {
		return certificate, key, err
	}
	if certificate, key, err = create(); err != nil {
		return nil, nil, fmt.Errorf("create certificate authority: %w", err)
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, s.dial.insertIgnore()+`certificate_authority (one, certificate, sealed_key, created_at) VALUES (1, ?, ?, ?)`,
			certificate, key, s.millis())
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("keep certificate authority: %w", err)
	}
	return read()
}
