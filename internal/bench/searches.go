package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/projections"
)

const (
	searchSamples = 10 // of a round
	searchPage    = 50 // calls of a page, as in the console
	searchPages   = 20 // of a search, at most
)

// search is what is looked for.
type search struct {
	name   string
	filter projections.Filter
}

// searches are of what a log of package generate holds, and of what it does not.
// A search costs what the index has to hold against each other, so that the hard
// ones are those whose parts are common, and all of which is rare. now is the log
// time at the end.
func searches(now time.Time, session string) []search {
	of := func(query string) projections.Filter { return projections.Filter{Query: query} }
	tool, inSession, newest, oldest, failed := of("timeout"), of("the"), of("error"), of("evictTender"), of("permission quota")
	tool.Tool, inSession.Session, failed.States = "Bash", session, []projections.CallState{"error"}
	newest.From, oldest.Until = now.Add(-24*time.Hour), now.Add(-21*24*time.Hour)
	return []search{
		{"a common word", of("error")},
		{"two common words", of("timeout retry")},
		{"five common words", of("the file of error and")},
		{"a rare word", of("truncateSignalbox")},
		{"two rare words", of("evictTender warmOven")},
		{"three letters", of("ing")},
		{"two letters", of("rm")},
		{"an option", of("-f")},
		{"Chinese", of("部署")},
		{"Korean", of("승인 만료")},
		{"an emoji", of("🚀")},
		{"a path", of("warehouse/shipment/")},
		{"an id", of("0198c0de-0000-7000-8000")},
		{"nowhere, of rare parts", of("qqxzzyx")},
		{"nowhere, of common parts", of("orderTimeoutRetry")},
		{"signs alone", of("=>")},
		{"a word and a tool", tool},
		{"a word in a session", inSession},
		{"a word of the last day", newest},
		{"a rare word, three weeks ago", oldest},
		{"two words of what failed", failed},
	}
}

// measureSearches measures the first page of each search, and tells over how
// many pages it goes until it has found so many calls as a page shows.
func (b *bench) measureSearches(ctx context.Context) ([]Row, error) {
	l, err := b.built(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := l.views.History(ctx, projections.Filter{Reader: projections.Everything()}, "", 1)
	if err != nil || len(newest.Items) == 0 {
		return nil, fmt.Errorf("the newest call: %w", err)
	}
	last := newest.Items[0]
	var rows []Row
	for _, s := range searches(time.UnixMicro(last.At.LogTime), last.Session) {
		s.filter.Reader = projections.Everything()
		row, err := b.measureSearch(ctx, l.views, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// measureSearch takes the pages of a search in turn, since the later ones cost
// what the first does.
func (b *bench) measureSearch(ctx context.Context, v *projections.Views, s search) (Row, error) {
	pages, found, more, err := follow(ctx, v, s.filter)
	if err != nil {
		return Row{}, err
	}
	at := 0
	pairs, err := b.rounds(searchSamples, func() (ours, limit time.Duration, err error) {
		cursor := pages[at%len(pages)]
		at++
		began := time.Now()
		_, err = v.History(ctx, s.filter, cursor, searchPage)
		ours, began = time.Since(began), time.Now()
		if err == nil {
			_, err = v.History(ctx, projections.Filter{Reader: s.filter.Reader}, "", searchPage)
		}
		return ours, time.Since(began), err
	})
	if err != nil {
		return Row{}, err
	}
	row := tail(s.name, pairs)
	row.Note = fmt.Sprintf("%q: %d found on %d pages", s.filter.Query, found, len(pages))
	if more {
		row.Note += ", and it goes on"
	}
	return row, nil
}

// follow pages through a search until a page full is found, and returns the
// cursors of its pages.
func follow(ctx context.Context, v *projections.Views, f projections.Filter) (pages []string, found int, more bool, err error) {
	for cursor := ""; ; {
		page, err := v.History(ctx, f, cursor, searchPage)
		if err != nil {
			return nil, 0, false, err
		}
		pages, found = append(pages, cursor), found+len(page.Items)
		if cursor = page.Next; cursor == "" || found >= searchPage || len(pages) == searchPages {
			return pages, found, cursor != "", nil
		}
	}
}
