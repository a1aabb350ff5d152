package tasklog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/internal/failpoint"
)

const (
	// segmentBytes and segmentLogs seal a segment: its index is in memory until then.
	segmentBytes = 4 << 20
	segmentLogs  = 32 << 10

	recordHead   = 40 // length, crc, key, end
	entryBytes   = 28 // key, offset, length
	trailerBytes = 40 // magic, offset of the entries, count, lowest and highest instance
	sealMagic    = 0x31_6c_61_65_73_70_70_70
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("damaged segment")

// place is where a record stands in its segment.
type place struct {
	offset int64
	length int32 // with its head
}

// segment is a file of short outputs. While it is written its index is in memory; sealed,
// a sorted index stands at its end and memory holds only the range of its instances.
type segment struct {
	path      string
	file      *os.File // nil once sealed
	size      int64
	index     map[Key]place
	low, high int64 // instances
	entries   int64 // offset of the index
	count     int64
}

func newSegment(dir string) (*segment, error) {
	names, err := segmentNames(dir)
	if err != nil {
		return nil, err
	}
	next := 1
	if len(names) > 0 {
		next = names[len(names)-1] + 1
	}
	path := filepath.Join(dir, fmt.Sprintf("seg-%08d", next))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make segment: %w", err)
	}
	return &segment{path: path, file: file, index: map[Key]place{}}, nil
}

func segmentNames(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	var names []int
	for _, e := range entries {
		if text, ok := strings.CutPrefix(e.Name(), "seg-"); ok {
			if n, err := strconv.Atoi(text); err == nil {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

func openSegments(dir string) ([]*segment, error) {
	names, err := segmentNames(dir)
	if err != nil {
		return nil, err
	}
	var all []*segment
	for _, n := range names {
		s := &segment{path: filepath.Join(dir, fmt.Sprintf("seg-%08d", n))}
		if err := s.open(); err != nil {
			return nil, fmt.Errorf("open %s: %w", s.path, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// open reads the trailer, or rebuilds and seals what a crash left.
func (s *segment) open() error {
	file, err := os.OpenFile(s.path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && s.readTrailer(file, info.Size()) {
		return file.Close()
	}
	if err == nil {
		s.file, s.index = file, map[Key]place{}
		s.size = s.scan(file)
		err = file.Truncate(s.size)
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	return s.seal()
}

func (s *segment) readTrailer(file *os.File, size int64) bool {
	var t [trailerBytes]byte
	if size < trailerBytes {
		return false
	}
	if _, err := file.ReadAt(t[:], size-trailerBytes); err != nil || binary.LittleEndian.Uint64(t[0:]) != sealMagic {
		return false
	}
	s.entries, s.count = int64(binary.LittleEndian.Uint64(t[8:])), int64(binary.LittleEndian.Uint64(t[16:]))
	s.low, s.high = int64(binary.LittleEndian.Uint64(t[24:])), int64(binary.LittleEndian.Uint64(t[32:]))
	return s.entries+s.count*entryBytes+trailerBytes == size
}

// scan indexes the whole records and returns where they end.
func (s *segment) scan(file *os.File) int64 {
	var at int64
	for {
		key, length, err := checkRecord(file, at)
		if err != nil {
			return at
		}
		s.index[key] = place{offset: at, length: length}
		at += int64(length)
	}
}

func checkRecord(file io.ReaderAt, at int64) (Key, int32, error) {
	var head [recordHead]byte
	if _, err := file.ReadAt(head[:], at); err != nil {
		return Key{}, 0, err
	}
	n := binary.LittleEndian.Uint32(head[0:])
	if n < recordHead || n > 2*spillBytes+recordHead {
		return Key{}, 0, errDamaged
	}
	rest := make([]byte, n-8)
	if _, err := file.ReadAt(rest, at+8); err != nil {
		return Key{}, 0, err
	}
	if crc32.Checksum(rest, crcTable) != binary.LittleEndian.Uint32(head[4:]) {
		return Key{}, 0, errDamaged
	}
	return readKey(head[8:]), int32(n), nil
}

// write appends the logs with one write and says where they are.
func (s *segment) write(logs []*Log) ([]place, error) {
	var buf []byte
	places := make([]place, 0, len(logs))
	for _, l := range logs {
		from := len(buf)
		buf = append(buf, make([]byte, 8)...)
		buf = appendKey(buf, l.key)
		buf = binary.LittleEndian.AppendUint64(buf, uint64(l.end.bytes[0]))
		buf = binary.LittleEndian.AppendUint64(buf, uint64(l.end.bytes[1]))
		buf = append(buf, l.buf...)
		record := buf[from:]
		binary.LittleEndian.PutUint32(record[0:], uint32(len(record)))
		binary.LittleEndian.PutUint32(record[4:], crc32.Checksum(record[8:], crcTable))
		places = append(places, place{offset: s.size + int64(from), length: int32(len(record))})
	}
	if err := failpoint.Hit("log.write.before"); err != nil {
		return nil, fmt.Errorf("write segment: %w", err)
	}
	if _, err := s.file.WriteAt(buf, s.size); err != nil {
		return nil, fmt.Errorf("write segment: %w", err)
	}
	s.size += int64(len(buf))
	return places, nil
}

func (s *segment) full() bool { return s.size >= segmentBytes || len(s.index) >= segmentLogs }

// seal writes the sorted index. The table in memory stays for readers that hold it.
func (s *segment) seal() error {
	type entry struct {
		key Key
		at  place
	}
	all := make([]entry, 0, len(s.index))
	for k, at := range s.index {
		all = append(all, entry{k, at})
	}
	slices.SortFunc(all, func(a, b entry) int { return compare(a.key, b.key) })
	buf := make([]byte, 0, len(all)*entryBytes+trailerBytes)
	for _, e := range all {
		buf = appendKey(buf, e.key)
		buf = binary.LittleEndian.AppendUint64(buf, uint64(e.at.offset))
		buf = binary.LittleEndian.AppendUint32(buf, uint32(e.at.length))
	}
	if len(all) > 0 {
		s.low, s.high = all[0].key.Instance, all[len(all)-1].key.Instance
	}
	s.entries, s.count = s.size, int64(len(all))
	for _, n := range []uint64{sealMagic, uint64(s.entries), uint64(s.count), uint64(s.low), uint64(s.high)} {
		buf = binary.LittleEndian.AppendUint64(buf, n)
	}
	_, err := s.file.WriteAt(buf, s.size)
	if cerr := s.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("seal segment: %w", err)
	}
	return nil
}

// find looks a key up in the index of a sealed segment.
func (s *segment) find(key Key) (place, bool, error) {
	if s.count == 0 || key.Instance < s.low || key.Instance > s.high {
		return place{}, false, nil
	}
	file, err := os.Open(s.path)
	if err != nil {
		return place{}, false, fmt.Errorf("read segment: %w", err)
	}
	defer func() { _ = file.Close() }()
	var e [entryBytes]byte
	var bad error
	at := sort.Search(int(s.count), func(i int) bool {
		if _, err := file.ReadAt(e[:], s.entries+int64(i)*entryBytes); err != nil {
			bad = err
			return true
		}
		return compare(readKey(e[:]), key) >= 0
	})
	if bad == nil && int64(at) < s.count {
		_, bad = file.ReadAt(e[:], s.entries+int64(at)*entryBytes)
	}
	if bad != nil {
		return place{}, false, fmt.Errorf("read segment: %w", bad)
	}
	if int64(at) == s.count || readKey(e[:]) != key {
		return place{}, false, nil
	}
	return place{
		offset: int64(binary.LittleEndian.Uint64(e[16:])),
		length: int32(binary.LittleEndian.Uint32(e[24:])),
	}, true, nil
}

// view reads one record.
func (s *segment) view(at place) (view, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return view{}, ErrNotFound
	}
	defer func() { _ = file.Close() }()
	record := make([]byte, at.length)
	if _, err := file.ReadAt(record, at.offset); err != nil {
		return view{}, fmt.Errorf("read segment: %w", err)
	}
	v := view{pieces: []piece{{frames: record[recordHead:]}}, over: true}
	v.end = passFrames(point{}, record[recordHead:])
	return v, nil
}

func appendKey(buf []byte, k Key) []byte {
	buf = binary.LittleEndian.AppendUint64(buf, uint64(k.Instance))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(k.Task))
	return binary.LittleEndian.AppendUint32(buf, uint32(k.Number))
}

func readKey(buf []byte) Key {
	return Key{
		Instance: int64(binary.LittleEndian.Uint64(buf[0:])),
		Task:     int32(binary.LittleEndian.Uint32(buf[8:])),
		Number:   int32(binary.LittleEndian.Uint32(buf[12:])),
	}
}

func compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Number, b.Number))
}
