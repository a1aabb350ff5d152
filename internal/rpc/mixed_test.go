package rpc

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

var keep = flag.Bool("keep", false, "keep the messages as they are now as those of the version before")

// before is the description of all messages as the version before had it.
const before = "testdata/before.binpb"

func described(t *testing.T) protoreflect.FileDescriptor {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(before))
	if err != nil {
		t.Fatal(err)
	}
	var file descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	fd, err := protodesc.NewFile(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// keepMessages writes the description anew, when a version is released: go test ./internal/rpc -run TestMessages -args -keep.
func keepMessages(t *testing.T) {
	t.Helper()
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(protodesc.ToFileDescriptorProto(File_porpoise_proto))
	if err == nil {
		err = os.WriteFile(filepath.FromSlash(before), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Requirements W32 and F68: no field or method of the version before has gone or changed its number, type or kind.
func TestMessagesOnlyGainFields(t *testing.T) {
	t.Parallel()
	if *keep {
		keepMessages(t)
	}
	old, now := described(t), File_porpoise_proto
	for i := range old.Messages().Len() {
		was := old.Messages().Get(i)
		is := now.Messages().ByName(was.Name())
		if is == nil {
			t.Errorf("message %s is gone", was.Name())
			continue
		}
		for j := range was.Fields().Len() {
			w := was.Fields().Get(j)
			f := is.Fields().ByNumber(w.Number())
			if f == nil || f.Name() != w.Name() || f.Kind() != w.Kind() || f.Cardinality() != w.Cardinality() || f.IsMap() != w.IsMap() {
				t.Errorf("%s.%s (%d) is not what it was", was.Name(), w.Name(), w.Number())
			}
		}
	}
	for i := range old.Services().Len() {
		was := old.Services().Get(i)
		is := now.Services().ByName(was.Name())
		for j := range was.Methods().Len() {
			m := was.Methods().Get(j)
			if is == nil || is.Methods().ByName(m.Name()) == nil || is.Methods().ByName(m.Name()).Input().Name() != m.Input().Name() {
				t.Errorf("method %s.%s is not what it was", was.Name(), m.Name())
			}
		}
	}
}

// Every message, with every field set, goes to the version before and back, both ways round: what both know arrives.
func TestTheVersionBeforeReadsOurMessagesAndWeItsOwn(t *testing.T) {
	t.Parallel()
	old := described(t)
	for i := range old.Messages().Len() {
		theirs := old.Messages().Get(i)
		ours := File_porpoise_proto.Messages().ByName(theirs.Name())
		for name, way := range map[string][2]protoreflect.MessageDescriptor{"to it": {ours, theirs}, "from it": {theirs, ours}} {
			sent := dynamicpb.NewMessage(way[0])
			fillAll(sent, 0)
			wire, err := proto.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			got := dynamicpb.NewMessage(way[1])
			if err := proto.Unmarshal(wire, got); err != nil {
				t.Errorf("%s %s: %v", theirs.Name(), name, err)
				continue
			}
			for j := range theirs.Fields().Len() {
				number := theirs.Fields().Get(j).Number()
				if !got.Has(way[1].Fields().ByNumber(number)) {
					t.Errorf("%s %s: field %d did not arrive", theirs.Name(), name, number)
				}
			}
		}
	}
}

// fillAll sets every field; depth bounds messages within messages.
func fillAll(m *dynamicpb.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
			m.Mutable(f).Map().Set(protoreflect.ValueOfString("k").MapKey(), protoreflect.ValueOfString("v"))
		case f.IsList():
			m.Mutable(f).List().Append(value(f, depth))
		default:
			m.Set(f, value(f, depth))
		}
	}
}

func value(f protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.MessageKind:
		inner := dynamicpb.NewMessage(f.Message())
		if depth < 3 {
			fillAll(inner, depth+1)
		}
		return protoreflect.ValueOfMessage(inner)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("é")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{0, 255})
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(0.5)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(-7)
	default:
		return protoreflect.ValueOfInt64(-7)
	}
}
