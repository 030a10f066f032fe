package embedded

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"gopkg.in/natefinch/lumberjack.v2"
)

const (
	logFile     = "engine.log"
	logMaxMiB   = 10 // a file of this size is put aside
	logMaxFiles = 2  // and this many are kept
)

// serverLog is where the Temporal server writes: errors only, without stack traces, into a file of bounded size, and
// nothing any more once the stop has begun. A stopping server cancels its own work and calls each cancellation an
// error, dozens of them (temporal issue 6210).
type serverLog struct {
	log.Logger
	file    *lumberjack.Logger
	stopped atomic.Bool
}

func openServerLog(dir string, own *zap.Logger) *serverLog {
	l := &serverLog{file: &lumberjack.Logger{Filename: filepath.Join(dir, logFile), MaxSize: logMaxMiB, MaxBackups: logMaxFiles}}
	enc := zap.NewProductionEncoderConfig()
	enc.EncodeTime = zapcore.RFC3339TimeEncoder
	core := zapcore.NewCore(zapcore.NewJSONEncoder(enc), zapcore.AddSync(l.file), zap.LevelEnablerFunc(func(v zapcore.Level) bool {
		return v >= zapcore.ErrorLevel && !l.stopped.Load()
	}))
	l.Logger = log.NewZapLogger(zap.New(core, zap.WithFatalHook(fatal{l, own})))
	return l
}

func (l *serverLog) close() {
	l.stopped.Store(true)
	_ = l.file.Close()
}

// fatal is what happens when the server declares that it cannot go on. While stopping that means nothing. Otherwise
// the process ends, as the server demands, but not without a word outside the log file.
type fatal struct {
	l   *serverLog
	own *zap.Logger
}

func (f fatal) OnWrite(e *zapcore.CheckedEntry, fields []zapcore.Field) {
	if f.l.stopped.Load() {
		runtime.Goexit()
	}
	f.own.Error("engine gave up", zap.String("reason", e.Message), zap.String("log", f.l.file.Filename))
	_ = f.own.Sync()
	os.Exit(1)
}
