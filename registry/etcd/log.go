package etcd

import (
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// expected are complaints that etcd has about what the embedded server is on purpose,
// and about a first start, which it finds strange each time.
var expected = map[string]bool{
	"Running http and grpc server on single port. This is not recommended for production.": true,
	"simple token is not cryptographically signed":                                         true,
	"Failed to detect schema version":                                                      true,
	"failed to update storage version":                                                     true,
}

// harmless says that a warning is one of the expected ones. A single member's first election
// starts before its own configuration is applied, and says so with its id in the text.
func harmless(message string) bool {
	return expected[message] || strings.Contains(message, "cannot campaign at term")
}

// bridge is a zap core that writes to hclog. What etcd calls info is debug here, since
// an operator of Porpoise did not ask for an etcd.
type bridge struct {
	log    hclog.Logger
	fields []zapcore.Field
}

// zapLogger gives a logger for etcd's server and client that ends in log.
func zapLogger(log hclog.Logger) *zap.Logger {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return zap.New(&bridge{log: log.Named("etcd")})
}

func (b *bridge) Enabled(level zapcore.Level) bool {
	switch level {
	case zapcore.DebugLevel:
		return b.log.IsTrace()
	case zapcore.InfoLevel:
		return b.log.IsDebug()
	case zapcore.WarnLevel:
		return b.log.IsWarn()
	default:
		return true
	}
}

func (b *bridge) With(fields []zapcore.Field) zapcore.Core {
	return &bridge{log: b.log, fields: append(slices.Clip(b.fields), fields...)}
}

func (b *bridge) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if b.Enabled(entry.Level) {
		return checked.AddCore(entry, b)
	}
	return checked
}

func (b *bridge) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	encoder := zapcore.NewMapObjectEncoder()
	pairs := make([]any, 0, 2*(len(b.fields)+len(fields)))
	for _, list := range [][]zapcore.Field{b.fields, fields} {
		for _, field := range list {
			field.AddTo(encoder)
			pairs = append(pairs, field.Key, encoder.Fields[field.Key])
		}
	}
	switch {
	case entry.Level == zapcore.DebugLevel:
		b.log.Trace(entry.Message, pairs...)
	case entry.Level == zapcore.InfoLevel || harmless(entry.Message):
		b.log.Debug(entry.Message, pairs...)
	case entry.Level == zapcore.WarnLevel:
		b.log.Warn(entry.Message, pairs...)
	default:
		b.log.Error(entry.Message, pairs...)
	}
	return nil
}

func (b *bridge) Sync() error { return nil }
