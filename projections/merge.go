package projections

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// mergeAll merges segments until there are few of each level. A segment of live
// events is often of one text; so each text is written again at most once a
// level.
func mergeAll(conn *sqlite.Conn) error {
	for _, late := range []bool{false, true} {
		for level := range lastLevel {
			if err := mergeLevel(conn, level, late); err != nil {
				return fmt.Errorf("merge segments of the search index: %w", err)
			}
		}
	}
	return nil
}

func mergeLevel(conn *sqlite.Conn, level int, late bool) error {
	for {
		segments, err := segmentsOf(conn, level, late)
		if err != nil || len(segments) < mergeAtOnce {
			return err
		}
		if err := merge(conn, segments); err != nil {
			return err
		}
	}
}

// mostMerged bounds a merge: only a rebuild finds more.
const mostMerged = 64

// storedSegment is a segment in the file, as a merge goes along its grams.
type storedSegment struct {
	segmentLine

	conn  *sqlite.Conn
	no    int64
	begin int   // the number that its first text gets in the new segment
	page  int64 // the key of the page of now

	pageReader
	more bool // there is a gram
}

func segmentsOf(conn *sqlite.Conn, level int, late bool) (all []*storedSegment, err error) {
	err = conn.Each(`SELECT no, texts, postings, first, last FROM segments WHERE level = ? AND late = ? ORDER BY no LIMIT ?`,
		func(row []driver.Value) error {
			s := &storedSegment{conn: conn, segmentLine: segmentLine{late: late}}
			var texts, postings int64
			err := integers(row, &s.no, &texts, &postings, &s.first, &s.last)
			s.texts, s.postings = int(texts), int(postings)
			all = append(all, s)
			return err
		}, int64(level), stored(late), int64(mostMerged))
	return all, err
}

// integers reads columns that must be whole numbers.
func integers(row []driver.Value, into ...*int64) error {
	for i, n := range into {
		var ok bool
		if *n, ok = row[i].(int64); !ok {
			return errPostings
		}
	}
	return nil
}

// start goes to the first gram.
func (s *storedSegment) start() error {
	return s.turn(pageKey(s.no, idsOfTexts))
}

// next goes on to the next gram.
func (s *storedSegment) next() (err error) {
	last := s.gram
	if s.more, err = s.pageReader.next(); s.more || err != nil {
		return err
	}
	err = s.turn(s.page + 1)
	if err == nil && s.more && s.gram <= last {
		err = errPostings
	}
	return err
}

// turn goes to the begin of the page that has a key, or the next one.
func (s *storedSegment) turn(key int64) error {
	row, err := s.conn.QueryRow("SELECT id, page FROM grams WHERE id >= ? AND id < ? ORDER BY id LIMIT 1", key, pageKey(s.no+1, 0))
	if err != nil || row == nil {
		return err
	}
	page, ok := row[1].([]byte)
	if err := integers(row, &s.page); err != nil || !ok {
		return errPostings
	}
	s.pageReader = pageReader{page: page}
	if s.more, err = s.pageReader.next(); err == nil && (!s.more || pageKey(s.no, s.gram) != s.page) {
		err = errPostings
	}
	return err
}

// merge puts segments into one: the texts of each get numbers behind those of the
// segment before.
func merge(conn *sqlite.Conn, segments []*storedSegment) error {
	into := segment{segmentLine: segmentLine{late: segments[0].late, first: segments[0].first, last: segments[0].last}}
	for _, s := range segments {
		s.begin = into.texts
		into.texts, into.postings = into.texts+s.texts, into.postings+s.postings
		into.first, into.last = min(into.first, s.first), max(into.last, s.last)
		if err := s.start(); err != nil {
			return err
		}
	}
	if err := into.fill(segments); err != nil {
		return err
	}
	for _, s := range segments {
		if err := conn.Exec("DELETE FROM grams WHERE id >= ? AND id < ?", pageKey(s.no, 0), pageKey(s.no+1, 0)); err != nil {
			return err
		}
		if err := conn.Exec("DELETE FROM segments WHERE no = ?", s.no); err != nil {
			return err
		}
	}
	return into.write(conn)
}

// fill takes all grams of segments, in order.
func (into *segment) fill(segments []*storedSegment) error {
	var gaps []byte          // a room
	var all []*storedSegment // those that have the least gram of what is left
	for {
		all = all[:0]
		for _, s := range segments {
			switch {
			case !s.more || len(all) > 0 && s.gram > all[0].gram:
			case len(all) > 0 && s.gram == all[0].gram:
				all = append(all, s)
			default:
				all = append(all[:0], s)
			}
		}
		if len(all) == 0 {
			return nil
		}
		var err error
		if all[0].gram == idsOfTexts {
			err = into.takeIDs(all)
		} else {
			gaps, err = into.takeSets(all, gaps[:0])
		}
		if err != nil {
			return err
		}
		for _, s := range all {
			if err := s.next(); err != nil {
				return err
			}
		}
	}
}

// takeIDs takes which texts segments have.
func (into *segment) takeIDs(all []*storedSegment) error {
	var ids textIDs
	n := 0
	for _, s := range all {
		err := eachText(s.stored, func(id int64, long bool) bool {
			ids.add(id, long)
			n++
			return true
		})
		if err != nil {
			return err
		}
	}
	if n != into.texts {
		return errPostings
	}
	into.addIDs(ids.bytes)
	return nil
}

// takeSets takes which texts of segments have a gram.
func (into *segment) takeSets(all []*storedSegment, gaps []byte) ([]byte, error) {
	next := 0
	for _, s := range all {
		err := eachOf(s.stored, s.texts, func(i int) {
			gaps = binary.AppendUvarint(gaps, uint64(s.begin+i-next)) //nolint:gosec // they ascend
			next = s.begin + i + 1
		})
		if err != nil {
			return gaps, err
		}
	}
	into.addSet(all[0].gram, gaps, into.texts)
	return gaps, nil
}
