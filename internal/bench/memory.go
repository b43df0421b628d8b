package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"
)

const (
	idleGoal    = 60.0  // MB
	pendingGoal = 100.0 // MB, of growth
	clients     = 8     // that ask side by side
)

// measureMemory measures agentd idle, and how much it grows with calls that
// wait for people, each in a conversation of its own whose client has left.
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
	if err := d.fill(ctx, b.o.Pending); err != nil {
		return nil, err
	}
	full, err := d.resident()
	if err != nil {
		return nil, err
	}
	return []Row{
		{What: "agentd idle", Ours: mb(idle), Goal: "< " + mb(idleGoal), Met: idle < idleGoal},
		{
			What: fmt.Sprintf("%d calls that wait", b.o.Pending), Ours: "+" + mb(full-idle), Goal: "< " + mb(pendingGoal), Met: full-idle < pendingGoal,
			Note: fmt.Sprintf("%.1f kB for a call, all of agentd: garbage of filling it and page caches too", (full-idle)*1000/float64(b.o.Pending)),
		},
	}, nil
}

func mb(x float64) string { return fmt.Sprintf("%.0f MB", x) }

// fill begins conversations whose call waits.
func (d *daemon) fill(ctx context.Context, n int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for range n {
		group.Go(func() error { return d.ask(ctx) })
	}
	return group.Wait()
}

// ask begins a conversation, and leaves when its call waits.
func (d *daemon) ask(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.addr+"/chat/stream", strings.NewReader(`{"query":"write it"}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+d.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"approval_request"`) {
			return nil
		}
	}
	return fmt.Errorf("POST /chat/stream: %s: no request came: %w", resp.Status, lines.Err())
}
