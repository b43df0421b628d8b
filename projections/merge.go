package projections

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

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
		nos, err := segmentsOf(conn, level, late)
		if err != nil || len(nos) < mergeAtOnce {
			return err
		}
		if err := merge(conn, nos); err != nil {
			return err
		}
	}
}

func segmentsOf(conn *sqlite.Conn, level int, late bool) (nos []int64, err error) {
	err = conn.Each("SELECT no FROM segments WHERE level = ? AND late = ? ORDER BY no LIMIT ?", func(row []driver.Value) error {
		var no int64
		err := integers(row, &no)
		nos = append(nos, no)
		return err
	}, int64(level), stored(late), int64(mostMerged))
	return nos, err
}

// mostMerged bounds a merge: only a rebuild finds more.
const mostMerged = 64

// merge puts segments into one: the texts of each get numbers behind those of the
// segment before.
func merge(conn *sqlite.Conn, nos []int64) error {
	m := merging{conn: conn, begins: map[int64]int{}, sizes: map[int64]int{}}
	which := idList(nos)
	if err := conn.Each("SELECT no, texts, first, last, postings, late FROM segments WHERE no IN (SELECT value FROM json_each(?)) ORDER BY no",
		m.line, which); err != nil {
		return err
	}
	var err error
	if m.no, err = m.into.insert(conn); err != nil {
		return err
	}
	// To sort, SQLite reads all before it gives the first: what is inserted
	// meanwhile does not come up.
	err = conn.Each("SELECT gram, segment, texts FROM grams WHERE segment IN (SELECT value FROM json_each(?)) ORDER BY gram, segment",
		m.gram, which)
	if err == nil {
		err = m.put()
	}
	if err == nil {
		err = conn.Exec("DELETE FROM grams WHERE segment IN (SELECT value FROM json_each(?))", which)
	}
	if err == nil {
		err = conn.Exec("DELETE FROM segments WHERE no IN (SELECT value FROM json_each(?))", which)
	}
	return err
}

// idList is a list of numbers for a query.
func idList(nos []int64) string {
	all := make([]string, 0, len(nos))
	for _, no := range nos {
		all = append(all, strconv.FormatInt(no, 10))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// merging is a merge under way.
type merging struct {
	conn   *sqlite.Conn
	begins map[int64]int // by segment, the number of its first text in the new one
	sizes  map[int64]int // and how many it has
	into   segmentLine
	no     int64 // of the new one

	now  int64 // the gram of now
	some bool  // there is one
	ids  textIDs
	gaps []byte
	next int // one more than the last number in gaps
	out  []byte
}

// line takes the row of a segment that is merged.
func (m *merging) line(row []driver.Value) error {
	var no, texts, first, last, postings, late int64
	if err := integers(row, &no, &texts, &first, &last, &postings, &late); err != nil {
		return err
	}
	if len(m.sizes) == 0 {
		m.into.first, m.into.last = first, last
	}
	m.begins[no], m.sizes[no] = m.into.texts, int(texts)
	m.into.texts += int(texts)
	m.into.first, m.into.last = min(m.into.first, first), max(m.into.last, last)
	m.into.postings, m.into.late = m.into.postings+int(postings), late != 0
	return nil
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

// gram takes what one of the segments has of a gram.
func (m *merging) gram(row []driver.Value) error {
	var gram, segment int64
	if err := integers(row, &gram, &segment); err != nil {
		return err
	}
	texts, ok := row[2].([]byte)
	if !ok {
		return errPostings
	}
	if m.some && gram != m.now {
		if err := m.put(); err != nil {
			return err
		}
	}
	m.now, m.some = gram, true
	if gram == idsOfTexts {
		return eachText(texts, func(id int64, long bool) bool {
			m.ids.add(id, long)
			return true
		})
	}
	begin := m.begins[segment]
	return eachOf(texts, m.sizes[segment], func(i int) {
		m.gaps = binary.AppendUvarint(m.gaps, uint64(begin+i-m.next)) //nolint:gosec // they ascend
		m.next = begin + i + 1
	})
}

// put stores the gram of now.
func (m *merging) put() error {
	if m.now == idsOfTexts {
		m.out = append(m.out[:0], m.ids.bytes...)
	} else {
		m.out = appendSet(m.out[:0], m.gaps, m.into.texts)
	}
	m.gaps, m.next = m.gaps[:0], 0
	return putGram(m.conn, m.no, m.now, m.out)
}
