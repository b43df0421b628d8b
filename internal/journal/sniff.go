package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// Sniff fails where a file is no journal by its first bytes. It opens nothing
// but the file, and leaves nothing beside it, so that a folder that was named by
// mistake stays as it is. What it lets pass may still be damaged.
func Sniff(path string) error {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	defer f.Close()
	const magic, idAt = "SQLite format 3\x00", 68 // https://www.sqlite.org/fileformat.html, section 1.3
	header := make([]byte, 100)
	_, err = io.ReadFull(f, header)
	switch {
	case errors.Is(err, io.EOF): // the first commit may be in the write-ahead log still
		if _, err := os.Stat(path + "-wal"); err == nil {
			return nil
		}
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	if string(header[:len(magic)]) != magic || binary.BigEndian.Uint32(header[idAt:]) != applicationID {
		return fmt.Errorf("%s: %w", path, sqlite.ErrForeign)
	}
	return nil
}
