package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/google/renameio/v2"
	"go.temporal.io/server/common/headers"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/internal/engine"
)

// Meta is the record of a data directory, kept in meta.json and read by clients on the same machine.
type Meta = engine.Meta

// historyShards is fixed when a directory is first used. On SQLite 1 and 4 are equally fast (measured 2026-12); 4
// leaves room for a move to a larger store.
const historyShards = 4

// prepare brings record and database into the state that the linked server needs, or says why that cannot be. Nothing
// is changed before every check has passed, and nothing is upgraded before there is a copy.
func prepare(ctx context.Context, o Options) (Meta, error) {
	path := filepath.Join(o.DataDir, databaseFile)
	md5, err := visibilityMD5()
	if err != nil {
		return Meta{}, err
	}
	m, err := engine.ReadMeta(o.DataDir)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return Meta{}, err
	}
	_, err = os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return Meta{}, fmt.Errorf("looking for database: %w", err)
	case fresh && !missing:
		return Meta{}, fmt.Errorf("database %s has no %s beside it, so its version is unknown: restore both from the same backup, or move the database away to start anew",
			path, engine.MetaFile)
	case fresh:
		m = Meta{Format: engine.MetaFormat, HistoryShards: historyShards, Created: time.Now().UTC().Truncate(time.Second)}
	default:
		if err := checkMeta(o.DataDir, m, md5); err != nil {
			return Meta{}, err
		}
	}
	if missing {
		if m.FrontendPort != 0 && !fresh {
			return Meta{}, fmt.Errorf("database %s is gone although %s tells of one: restore it from a backup, or remove %s to start anew without its runs",
				path, engine.MetaFile, engine.MetaFile)
		}
		// The record first: a record without ports is a first start that was cut short, a database without a record is a mystery.
		m.ServerVersion, m.SQLiteSchema, m.VisibilitySchemaMD5 = headers.ServerVersion, sqliteschema.Version, md5
		m.Namespace = o.Namespace
		if err := writeMeta(o.DataDir, m); err != nil {
			return Meta{}, err
		}
		if err := createStore(ctx, path); err != nil {
			return Meta{}, err
		}
	}
	if err := openAndUpgrade(ctx, o, m, path); err != nil {
		return Meta{}, err
	}
	m.ServerVersion, m.SQLiteSchema, m.VisibilitySchemaMD5 = headers.ServerVersion, sqliteschema.Version, md5
	m.Namespace = o.Namespace
	return m, nil
}

// checkMeta refuses a directory that a newer program has used, and one whose visibility schema this program has no
// step from.
func checkMeta(dir string, m Meta, md5 string) error {
	recorded, err := semver.NewVersion(m.ServerVersion)
	if err != nil {
		return fmt.Errorf("engine record of %s: server version %q: %w", dir, m.ServerVersion, err)
	}
	if linked := semver.MustParse(headers.ServerVersion); recorded.GreaterThan(linked) {
		return fmt.Errorf("data directory %s was last used by engine version %s and this program holds %s: an older engine may misread newer data; use the newer fabricbot",
			dir, recorded, linked)
	}
	if err := checkSchema(dir, m.SQLiteSchema); err != nil {
		return err
	}
	if m.VisibilitySchemaMD5 != md5 {
		return fmt.Errorf("data directory %s has visibility schema %s and this program holds %s, without a step between them: use the release that wrote it",
			dir, m.VisibilitySchemaMD5, md5)
	}
	if m.HistoryShards < 1 {
		return fmt.Errorf("engine record of %s names %d history shards: restore it from a backup of the directory", dir, m.HistoryShards)
	}
	return nil
}

func checkSchema(dir, version string) error {
	v, err := semver.NewVersion(version)
	if err != nil {
		return fmt.Errorf("data directory %s: schema version %q: %w", dir, version, err)
	}
	if linked := semver.MustParse(sqliteschema.Version); v.GreaterThan(linked) {
		return fmt.Errorf("data directory %s has schema version %s and this program knows up to %s: use the newer fabricbot that wrote it",
			dir, version, sqliteschema.Version)
	}
	return nil
}

// openAndUpgrade trusts the version in the file over the one in the record: a restored file may be older.
func openAndUpgrade(ctx context.Context, o Options, m Meta, path string) (err error) {
	db, err := openStore(path)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := db.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("closing database %s: %w", path, explainStore(path, cerr))
		}
	}()
	if err := checkUnlocked(ctx, db, path); err != nil {
		return err
	}
	version, err := versioned{ctx, db}.ReadSchemaVersion()
	if err != nil {
		return fmt.Errorf("reading schema version of %s: %w", path, explainStore(path, err))
	}
	if err := checkSchema(o.DataDir, version); err != nil {
		return err
	}
	if version == sqliteschema.Version && m.ServerVersion == headers.ServerVersion {
		return nil
	}
	// A newer server may also rewrite rows without a schema step, so the copy is made for it as well.
	copied, err := copyStore(ctx, db, path, "before-"+headers.ServerVersion)
	if err != nil {
		return err
	}
	if err := upgradeStore(ctx, db); err != nil {
		return fmt.Errorf("upgrading database %s from schema %s to %s: %w: the copy %s is as before", path, version, sqliteschema.Version,
			explainStore(path, err), copied)
	}
	o.Log.Info("engine database upgraded", zap.String("from_server", m.ServerVersion), zap.String("to_server", headers.ServerVersion),
		zap.String("from_schema", version), zap.String("to_schema", sqliteschema.Version), zap.String("copy", copied))
	return nil
}

func writeMeta(dir string, m Meta) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing engine record: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, engine.MetaFile), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing engine record: %w", explainFull(dir, err))
	}
	return nil
}
