package bot

import (
	"encoding/json"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// said is what the bot knows about one thing it said or is about to say.
type said struct {
	Channel string `json:"channel"`
	// TS is the message's id within its channel, empty until Slack gave one.
	TS string `json:"ts,omitempty"`
	// Intent is when the bot first set out to say it; it is written before
	// Slack is called.
	Intent time.Time `json:"intent,omitzero"`
	// Unsure is when Slack was last called without an answer.
	Unsure time.Time `json:"unsure,omitzero"`
	// Gone are ids of messages that can no longer be edited.
	Gone []string `json:"gone,omitempty"`
	// Seq, State and Hash are those of the view shown last, Shown is when.
	Seq   int       `json:"seq,omitempty"`
	State string    `json:"state,omitempty"`
	Hash  string    `json:"hash,omitempty"`
	Shown time.Time `json:"shown,omitzero"`
}

// Store remembers what was said, durably: each change is on disk before the
// next call to Slack.
type Store struct{ db *bolt.DB }

var bucket = []byte("said")

// lockWait is how long another process may hold the file before opening fails.
const lockWait = 2 * time.Second

// OpenStore opens or makes the file. One process may have it open.
func OpenStore(path string) (*Store, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait})
	if err != nil {
		return nil, fmt.Errorf("opening the message store %s (does another bot use it?): %w", path, err)
	}
	if err := db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	}); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("preparing the message store %s: %w", path, err)
	}
	return &Store{db: db}, nil
}

// Close releases the file.
func (s *Store) Close() error { return s.db.Close() }

// liveKey, noticeKey and fileKey name what a run says.
func liveKey(run string) string        { return run + "\x00live" }
func noticeKey(run, key string) string { return run + "\x00notice\x00" + key }
func fileKey(run, name string) string  { return run + "\x00file\x00" + name }

func (s *Store) get(key string) (said, error) {
	var rec said
	err := s.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucket).Get([]byte(key))
		if b == nil {
			return nil
		}
		return json.Unmarshal(b, &rec)
	})
	if err != nil {
		return said{}, fmt.Errorf("reading the message store: %w", err)
	}
	return rec, nil
}

func (s *Store) put(key string, rec said) error {
	b, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("encoding for the message store: %w", err)
	}
	if err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put([]byte(key), b) }); err != nil {
		return fmt.Errorf("writing the message store: %w", err)
	}
	return nil
}

// Forget drops what has not changed since the given time.
func (s *Store) Forget(before time.Time) error {
	err := s.db.Update(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucket).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			var rec said
			if err := json.Unmarshal(v, &rec); err != nil {
				return err
			}
			if rec.Shown.Before(before) && rec.Intent.Before(before) {
				if err := c.Delete(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pruning the message store: %w", err)
	}
	return nil
}
