package models

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/agent"
)

const (
	defaultIdle = 5 * time.Minute
	drainTime   = 100 * time.Millisecond
)

// OpenAIOptions configure an [OpenAI].
type OpenAIOptions struct {
	// Name is what requests pick the model by.
	Name string
	// BaseURL is where the protocol's paths begin, "https://api.openai.com/v1".
	// A query in it is kept.
	BaseURL string
	// Model is the provider's name of the model.
	Model string
	// APIKey is sent as a bearer token; "" sends none. It is taken out of all
	// error messages.
	APIKey string
	// HTTPClient may be nil. It must have no time-out of its own: that would
	// end long answers.
	HTTPClient *http.Client
	// Logger may be nil.
	Logger *slog.Logger
	// IdleTimeout is how long the provider may send nothing; 0 is 5 minutes.
	IdleTimeout time.Duration
}

// OpenAI is a client of a chat-completions endpoint. It may be used from many
// goroutines.
type OpenAI struct {
	chat

	options  OpenAIOptions
	endpoint string
}

var _ agent.Model = (*OpenAI)(nil)

// NewOpenAI returns a client, or an error that says which option is wrong. It
// connects to nothing.
func NewOpenAI(o OpenAIOptions) (*OpenAI, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("model %q: base URL: %w", o.Name, err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("model %q: base URL %q: want http(s)://host/path", o.Name, base.Redacted())
	}
	if o.Model == "" {
		return nil, fmt.Errorf("model %q: the provider's model name is missing", o.Name)
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("model %q: the API key holds white space or control characters", o.Name)
	}
	o.HTTPClient = cmp.Or(o.HTTPClient, &http.Client{})
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.IdleTimeout = cmp.Or(o.IdleTimeout, defaultIdle)
	return &OpenAI{options: o, endpoint: base.JoinPath("chat", "completions").String()}, nil
}

// Name implements [agent.Model].
func (m *OpenAI) Name() string { return m.options.Name }

// Stream implements [agent.Model]. A request that no provider would accept is
// ErrRequest; all else that fails is an *[agent.TurnError], with what had
// arrived of the turn, or the cause of a context that ended.
func (m *OpenAI) Stream(ctx context.Context, req agent.Request, sink func(agent.Delta)) (agent.Turn, error) {
	body, err := encodeRequest(m.options.Model, req)
	if err != nil {
		return agent.Turn{}, fmt.Errorf("model %q: %w", m.options.Name, err)
	}
	began := time.Now()
	line, stop := newIdleLine(ctx, m.options.IdleTimeout)
	defer stop()
	turn, err := m.exchange(line, body, sink)
	if ctx.Err() != nil && err != nil {
		return turn, context.Cause(ctx)
	}
	m.options.Logger.DebugContext(ctx, "model round ended", "model", m.options.Name,
		"finish", turn.Finish, "calls", len(turn.Calls), "took", time.Since(began), "failed", err != nil)
	return turn, m.redact(err)
}

// exchange sends one request and reads its answer.
func (m *OpenAI) exchange(line *idleLine, body []byte, sink func(agent.Delta)) (agent.Turn, error) {
	res, err := m.post(line, body)
	if err != nil {
		return agent.Turn{}, unreachable(line, err)
	}
	defer res.Body.Close()
	from := &opening{from: line.reader(res.Body)}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return agent.Turn{}, statusFailure(res, from)
	}
	reader := newTurnReader(sink)
	turn, err := reader.read(from)
	if err == nil {
		line.drain(res.Body)
		return turn, nil
	}
	if reader.events == 0 && line.ctx.Err() == nil {
		err = notAStream(res, from.kept, err)
	}
	return turn, streamFailure(line.cause(err))
}

// post sends the request and returns the answer's head.
func (m *OpenAI) post(line *idleLine, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(line.ctx, http.MethodPost, m.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if m.options.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+m.options.APIKey)
	}
	return line.do(m.options.HTTPClient, req)
}

// redact takes the API key out of what a provider says: it goes into the log
// and to clients.
func (m *OpenAI) redact(err error) error {
	var turn *agent.TurnError
	if m.options.APIKey == "" || !errors.As(err, &turn) {
		return err
	}
	clean := *turn
	clean.Message = strings.ReplaceAll(turn.Message, m.options.APIKey, "[API key]")
	return &clean
}

// opening keeps the first bytes that are read, to say what came instead of a
// stream.
type opening struct {
	from io.Reader
	kept []byte
}

func (o *opening) Read(p []byte) (int, error) {
	n, err := o.from.Read(p)
	if room := maxErrorBody - len(o.kept); room > 0 {
		o.kept = append(o.kept, p[:min(n, room)]...)
	}
	return n, err
}
