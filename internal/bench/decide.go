package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/countersign-dev/countersign/agent"
)

// startSamples is how many decisions a round posts.
const startSamples = 60

// measureStart measures from a posted decision to the moment when the tool
// begins: two durable appends and one request lie between, so the limit is two
// raw appends and a request that is echoed.
func (b *bench) measureStart(ctx context.Context) ([]Row, error) {
	var rows []Row
	err := b.withHouse(ctx, func(ctx context.Context, h *house, raw *rawFile) (err error) {
		l, err := newEcho(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.close()) }()
		pairs, err := b.rounds(startSamples, func() (ours, limit time.Duration, err error) {
			err = h.counted(func() error {
				ours, err = h.decision(ctx)
				return err
			})
			if err == nil {
				limit, err = l.limit(ctx, raw, h.token)
			}
			return ours, limit, err
		})
		if err != nil {
			return err
		}
		row := latency("decision posted to tool begins", 1.5, pairs, "the limit: 2 raw appends of 600 B and a loopback HTTP request")
		row.CPU = h.account()
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// decision begins a run, waits for its request, approves it over HTTP, and
// tells how long the tool took to begin.
func (h *house) decision(ctx context.Context) (time.Duration, error) {
	reader, err := h.begin(ctx, agent.Query{Text: query(1, "Note")})
	if err != nil {
		return 0, err
	}
	request, err := next(ctx, reader, agent.EventApproval)
	if err != nil {
		return 0, err
	}
	<-h.model.turned
	if err := h.quiet(ctx); err != nil {
		return 0, err
	}
	body := fmt.Sprintf(`{"requestId":%q,"decision":"approve"}`, request.RequestID)
	posted := time.Now()
	answer, err := post(ctx, "http://"+h.listener.Addr().String()+"/chat/approval", h.token, body)
	if err != nil {
		return 0, err
	}
	if !bytes.Contains(answer, []byte(`"accepted":true`)) {
		return 0, fmt.Errorf("the decision was not accepted: %s", answer)
	}
	began := <-h.began
	<-h.model.asked
	return began.Sub(posted), h.end(ctx, reader)
}

// begin begins a run.
func (h *house) begin(ctx context.Context, q agent.Query) (*agent.Reader, error) {
	who, err := h.auth.People(ctx)
	if err != nil {
		return nil, err
	}
	q.Principal = who[0].ID
	_, reader, err := h.loop.Start(ctx, q)
	return reader, err
}

// next reads up to the first frame of a kind.
func next(ctx context.Context, r *agent.Reader, kind string) (agent.Event, error) {
	for {
		f, err := r.Next(ctx)
		if err != nil || f.Event.Type == kind {
			return f.Event, err
		}
	}
}

// end reads a run to its end, and lets the views read it too.
func (h *house) end(ctx context.Context, r *agent.Reader) error {
	for {
		switch _, err := r.Next(ctx); {
		case errors.Is(err, agent.ErrFeedEnded):
			return h.quiet(ctx)
		case err != nil:
			return err
		}
	}
}

// echo is the least that an HTTP server does.
type echo struct {
	server *http.Server
	url    string
	served chan error
}

func newEcho(ctx context.Context) (*echo, error) {
	l, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	e := &echo{url: "http://" + l.Addr().String(), served: make(chan error, 1)}
	e.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	})}
	go func() { e.served <- e.server.Serve(l) }()
	return e, nil
}

func (e *echo) close() error {
	err := e.server.Close()
	if last := <-e.served; !errors.Is(last, http.ErrServerClosed) {
		err = errors.Join(err, last)
	}
	return err
}

func (e *echo) limit(ctx context.Context, raw *rawFile, token string) (time.Duration, error) {
	b := envelope(someID, someID)
	began := time.Now()
	if _, err := post(ctx, e.url, token, `{"requestId":"0198c0de-0000-7000-8000-000000000000","decision":"approve"}`); err != nil {
		return 0, err
	}
	for range 2 {
		if err := raw.append(b); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// post sends JSON over a connection that is kept.
func post(ctx context.Context, url, token, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("POST %s: %s: %s", url, resp.Status, answer)
	}
	return answer, err
}

// withHouse runs a house, with a raw file on the same disk.
func (b *bench) withHouse(ctx context.Context, f func(context.Context, *house, *rawFile) error) error {
	dir, err := b.folder()
	if err != nil {
		return err
	}
	raw, err := newRawFile(filepath.Join(dir, "raw"))
	if err != nil {
		return err
	}
	defer raw.f.Close()
	return within(ctx, dir, func(ctx context.Context, h *house) error { return f(ctx, h, raw) })
}
