package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrNote says that a head file cannot be read as one.
var ErrNote = errors.New("the head file is damaged")

// Note is what is kept of a journal's head outside of its folder. Whoever puts
// the folder back from a copy, or cuts it, cannot put this back with it. The
// stored form: members are only added, never changed.
type Note struct {
	Log        string          `json:"log"`  // LogID of the journal
	Rows       int64           `json:"rows"` // how many records it had
	Last       string          `json:"last"` // Leaf of the last of them
	Partitions []NotePartition `json:"partitions"`
	Boot       string          `json:"boot"` // the process that noted it
	Time       time.Time       `json:"time"` // when, by the wall clock
}

// NotePartition is the head of one partition.
type NotePartition struct {
	Partition uint32 `json:"partition"`
	Size      uint64 `json:"size"`
	Root      string `json:"root"` // RFC 6962 tree hash, lower-case hex
}

// NoteOf is the note of a head.
func NoteOf(h Head, log, last, boot string, at time.Time) Note {
	n := Note{Log: log, Rows: h.Row, Last: last, Boot: boot, Time: at.UTC(), Partitions: make([]NotePartition, 0, len(h.Partitions))}
	for _, p := range h.Partitions {
		n.Partitions = append(n.Partitions, NotePartition{p.Partition, p.Size, fmt.Sprintf("%x", p.Root[:])})
	}
	return n
}

// Head is the head that was noted.
func (n Note) Head() (Head, error) {
	h := Head{Row: n.Rows}
	for _, p := range n.Partitions {
		root, err := rootOf(p.Root)
		if err != nil {
			return Head{}, err
		}
		h.Partitions = append(h.Partitions, PartitionHead{Partition: p.Partition, Size: p.Size, Root: root})
	}
	return h, nil
}

// maxNote bounds a head file: a line for each partition.
const maxNote = 1 << 20

// ReadNote reads a head file. found is false where there is none; what cannot be
// read as one is ErrNote, with what to do.
func ReadNote(path string) (n Note, found bool, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return Note{}, false, fmt.Errorf("%w: %s is no regular file; name another", ErrNote, path)
	}
	f, err := os.Open(path) //nolint:gosec // the operator's own file
	if errors.Is(err, fs.ErrNotExist) {
		return Note{}, false, nil
	}
	if err != nil {
		return Note{}, false, fmt.Errorf("%w: %w; make it readable, or remove it if you know that the log was not put back", ErrNote, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := io.ReadAll(io.LimitReader(f, maxNote+1))
	if err == nil && len(b) > maxNote {
		err = fmt.Errorf("it has more than %d bytes", maxNote)
	}
	if err == nil {
		err = json.Unmarshal(b, &n, json.RejectUnknownMembers(true))
	}
	if err == nil {
		err = n.check()
	}
	if err != nil {
		return Note{}, false, fmt.Errorf("%w: %s: %w; put it back from a copy, or remove it if you know that the log was not put back: "+
			"it is made anew then", ErrNote, path, err)
	}
	return n, true, nil
}

func (n Note) check() error {
	if n.Rows < 1 || len(n.Partitions) == 0 || n.Time.IsZero() {
		return errors.New("it does not say how many records there were, in which partitions, or when")
	}
	var size uint64
	for _, p := range n.Partitions {
		size += p.Size
	}
	if size != uint64(n.Rows) {
		return fmt.Errorf("its partitions have %d records, all together %d", size, n.Rows)
	}
	for _, hash := range []string{n.Log, n.Last} {
		if _, err := rootOf(hash); err != nil {
			return err
		}
	}
	_, err := n.Head()
	return err
}

// WriteNote replaces a head file: who reads it finds the old note or the new
// one, also after a loss of power. Its folder must be there.
func WriteNote(path string, n Note) error {
	b, err := json.Marshal(n, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("note the head: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("note the head in %s: %w", path, err), os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// syncDir makes a rename in a folder last.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator's own folder
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
