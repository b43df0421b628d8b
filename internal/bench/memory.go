package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	idleGoal    = 60.0  // MB
	pendingGoal = 100.0 // MB, of growth, the streams included
	clients     = 8     // that ask side by side
	streamCount = 1000  // clients that read: half a chat, half the console
)

// measureMemory measures agentd idle, how much it grows with calls that wait for
// people, each in a conversation of its own, and how much with clients that read
// streams on top.
func (b *bench) measureMemory(ctx context.Context) (rows []Row, err error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	d, err := b.start(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if last := d.stop(); err == nil {
			err = last
		}
	}()
	if err := d.get(ctx, "/inbox"); err != nil {
		return nil, err
	}
	idle, err := d.resident()
	if err != nil {
		return nil, err
	}
	conversations, err := d.fill(ctx, b.o.Pending)
	if err != nil {
		return nil, err
	}
	full, err := d.settled(ctx)
	if err != nil {
		return nil, err
	}
	read, err := d.withStreams(ctx, conversations)
	if err != nil {
		return nil, err
	}
	return []Row{
		{What: "agentd idle", Ours: mb(idle), Goal: "< " + mb(idleGoal), Met: idle < idleGoal},
		{
			What: fmt.Sprintf("%d calls that wait", b.o.Pending), Ours: "+" + mb(full-idle), Goal: "< " + mb(pendingGoal), Met: full-idle < pendingGoal,
			Note: fmt.Sprintf("%.1f kB for a call, all of agentd: views, page caches and what the collector has not given back", (full-idle)*1000/float64(b.o.Pending)),
		},
		{
			What: fmt.Sprintf("and %d clients read", streamCount), Ours: "+" + mb(read-idle), Goal: "< " + mb(pendingGoal), Met: read-idle < pendingGoal,
			Note: fmt.Sprintf("%.0f kB for a client: half read the conversation that waits, half the console's changes", (read-full)*1000/streamCount),
		},
	}, nil
}

func mb(x float64) string { return fmt.Sprintf("%.0f MB", x) }

// settled is the daemon's memory once it has stopped to shrink: its views read
// on, and the Go runtime gives back what it does not use as time goes by.
func (d *daemon) settled(ctx context.Context) (float64, error) {
	least, calm := 1e9, 0
	for calm < 6 {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		now, err := d.resident()
		if err != nil {
			return 0, err
		}
		calm++
		if now < least-0.5 {
			least, calm = now, 0
		}
	}
	return least, nil
}

// fill begins conversations whose call waits.
func (d *daemon) fill(ctx context.Context, n int) ([]string, error) {
	conversations := make([]string, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for i := range n {
		group.Go(func() (err error) {
			conversations[i], err = d.ask(ctx, d.more[i%streamPeople])
			return err
		})
	}
	return conversations, group.Wait()
}

// ask begins a conversation, and leaves when its call waits.
func (d *daemon) ask(ctx context.Context, token string) (conversation string, err error) {
	resp, err := d.open(ctx, http.MethodPost, "/chat/stream", token)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return resp.Header.Get("Conversation-Id"), awaitText(resp, `"approval_request"`)
}

// open opens a stream.
func (d *daemon) open(ctx context.Context, method, path, token string) (*http.Response, error) {
	var body strings.Reader
	if method == http.MethodPost {
		body.Reset(`{"query":"write it"}`)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+d.addr+path, &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.Join(fmt.Errorf("%s %s: %s", method, path, resp.Status), resp.Body.Close())
	}
	return resp, err
}

// awaitText reads a stream up to the first line that has a text.
func awaitText(resp *http.Response, text string) error {
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return nil
		}
	}
	return fmt.Errorf("%s: %s: %q did not come: %w", resp.Request.URL.Path, resp.Status, text, lines.Err())
}

// withStreams is the daemon's memory while clients read: half of them
// conversations whose call waits, half the console's changes.
func (d *daemon) withStreams(ctx context.Context, conversations []string) (float64, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	var group errgroup.Group
	group.SetLimit(clients)
	for i := range streamCount {
		path, first := "/live", ""
		if i%2 == 0 {
			path, first = "/chat/stream/"+conversations[i%len(conversations)], `"approval_request"`
		}
		group.Go(func() error {
			resp, err := d.open(ctx, http.MethodGet, path, d.more[i%len(conversations)%streamPeople]) //nolint:bodyclose // read until leave
			if err != nil {
				return err
			}
			return awaitText(resp, first)
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return d.settled(ctx)
}
