package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// index remembers which entries are in the file, and reads what other writers added since it last looked.
type index struct {
	receipts map[key]Receipt
	file     os.FileInfo // that was read, so that a file put in its place is noticed
	read     int64       // octets, up to the end of a line
}

// catchUp reads the lines between what was read and size. The caller holds the file's lock. What was in a file that was moved
// away stays remembered.
func (x *index) catchUp(file *os.File, size int64) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if x.file == nil || !os.SameFile(x.file, info) || size < x.read {
		x.read = 0
	}
	if x.receipts == nil {
		x.receipts = map[key]Receipt{}
	}
	x.file = info
	added := bufio.NewReader(io.NewSectionReader(file, x.read, size-x.read))
	for {
		line, err := added.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a line without its end is read again when it has one
		}
		if err != nil {
			return err
		}
		x.read += int64(len(line))
		line = line[:len(line)-1]
		var entry Entry
		if json.Unmarshal(line, &entry) == nil && entry.Run != "" {
			if _, known := x.receipts[entry.key()]; !known {
				x.receipts[entry.key()] = Receipt{Seq: entry.Seq, Hash: hashOf(line)}
			}
		}
	}
}
