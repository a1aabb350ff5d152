package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

var errDamaged = errors.New("damaged record")

// reader reads framed records; the data of one is valid until the next.
type reader struct {
	in  *bufio.Reader
	buf []byte
}

func newReader(in io.Reader) *reader { return &reader{in: bufio.NewReaderSize(in, 256<<10)} }

func (r *reader) next() (Record, error) {
	var head [headerBytes]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return Record{}, err
	}
	length := int(binary.LittleEndian.Uint32(head[0:]))
	if length > MaxRecord {
		return Record{}, errDamaged
	}
	if cap(r.buf) < length {
		r.buf = make([]byte, length)
	}
	data := r.buf[:length]
	if _, err := io.ReadFull(r.in, data); err != nil {
		return Record{}, err
	}
	sum := crc32.Update(crc32.Checksum(head[8:9], table), table, data)
	if sum != binary.LittleEndian.Uint32(head[4:]) {
		return Record{}, errDamaged
	}
	return Record{Kind: head[8], Data: data}, nil
}
