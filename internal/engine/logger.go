package engine

import (
	"go.temporal.io/sdk/log"
	"go.uber.org/zap"
)

// Logger lets the Temporal SDK write to zap. It is quiet: what the SDK calls info (a worker started, a poller
// stopped) is debug here, since nobody asks about it later; debug is dropped, because the SDK emits it per task.
func Logger(l *zap.Logger) log.Logger {
	if l == nil {
		l = zap.NewNop()
	}
	return sdkLogger{l.WithOptions(zap.AddCallerSkip(1)).Sugar()}
}

type sdkLogger struct{ s *zap.SugaredLogger }

func (l sdkLogger) Debug(string, ...any)        {}
func (l sdkLogger) Info(msg string, kv ...any)  { l.s.Debugw(msg, kv...) }
func (l sdkLogger) Warn(msg string, kv ...any)  { l.s.Warnw(msg, kv...) }
func (l sdkLogger) Error(msg string, kv ...any) { l.s.Errorw(msg, kv...) }
func (l sdkLogger) With(kv ...any) log.Logger   { return sdkLogger{l.s.With(kv...)} }
func (l sdkLogger) WithCallerSkip(n int) log.Logger {
	return sdkLogger{l.s.WithOptions(zap.AddCallerSkip(n))}
}
