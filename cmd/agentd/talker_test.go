package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// site is where agentd is now, if it is.
type site struct{ base atomic.Pointer[string] }

func (s *site) move(base string) { s.base.Store(&base) }

func (s *site) as(token string) client { return client{*s.base.Load(), token} }

// acknowledged is an answer that agentd gave to a decision.
type acknowledged struct {
	request, verdict string
	comment          string // unique; the decision carries it
	ruled
}

// talker is a client that has one conversation after another, and the person
// who decides what is asked in them. It knows only what agentd answered.
type talker struct {
	name string
	site *site
	busy *atomic.Bool // begin another conversation when one has ended

	runs    []string       // conversations that were begun
	acked   []acknowledged // answers to decisions
	shown   map[string]int // tool results, by conversation and call
	decided map[string]bool
}

// talk goes on until it should not, and the last conversation has ended.
func (w *talker) talk(ctx context.Context) error {
	w.shown, w.decided = map[string]int{}, map[string]bool{}
	for n := 0; w.busy.Load(); n++ {
		id := fmt.Sprintf("%s-%d", w.name, n)
		if err := w.converse(ctx, id, plan{
			{count("Tally", id+"-0-0"), count("Count", id+"-0-1"), count("Count", id+"-0-2")},
			{count("Count", id+"-1-0"), count("Tally", id+"-1-1")},
		}.query()); err != nil {
			return fmt.Errorf("conversation %s: %w", id, err)
		}
	}
	return nil
}

// converse sees a conversation through, over as many agentds as it takes.
func (w *talker) converse(ctx context.Context, id, query string) error {
	begun := false
	for ctx.Err() == nil {
		s, err := w.site.as(agentToken).open(ctx, http.MethodGet, "/chat/stream/"+id, nil)
		var answer statusError
		if errors.As(err, &answer) && answer.status == http.StatusNotFound {
			if begun {
				return errors.New("it was acknowledged and is not there any more")
			}
			s, err = w.site.as(agentToken).chat(ctx, id, query)
		}
		switch {
		case errors.As(err, &answer) && answer.status != http.StatusServiceUnavailable && answer.status != http.StatusConflict:
			return err
		case err != nil:
			w.pause(ctx)
			continue
		case !begun:
			begun = true
			w.runs = append(w.runs, id)
		}
		over, err := w.listen(ctx, id, s)
		if over || err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pause waits a moment.
func (w *talker) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// listen reads a stream until it breaks, and decides what it asks. The
// conversation is over when the stream ends well after its last event: then the
// end of the run is in the log.
func (w *talker) listen(ctx context.Context, id string, s *stream) (over bool, err error) {
	defer s.body.Close()
	for {
		e, err := s.next()
		if err != nil {
			return over && errors.Is(err, io.EOF), nil // else agentd was killed
		}
		switch {
		case e.Type == "error":
			return true, fmt.Errorf("the run failed: %s %s", e.Code, e.Message)
		case e.Type == "approval_request" && !w.decided[e.RequestID]:
			w.decide(ctx, e)
		case e.Type == "tool_result":
			for _, r := range e.ToolResults {
				w.shown[id+" "+r.ID+" "+r.Status]++
			}
		case e.over():
			over = true
		}
	}
}

// decide decides a request in one of five ways, by its key: approve (twice as
// often), change, decline, or approve and decline at once.
func (w *talker) decide(ctx context.Context, e heard) {
	w.pause(ctx) // to look at it: agentd may be killed meanwhile
	sum := 0
	for _, b := range []byte(e.Arguments) {
		sum += int(b)
	}
	body := map[string]string{"requestId": e.RequestID, "decision": "approve"}
	switch sum % 5 {
	case 2:
		body["decision"] = "approve_and_modify"
		body["arguments"] = strings.TrimSuffix(e.Arguments, "}") + `,"changed":true}`
	case 3:
		body["decision"] = "decline"
	case 4:
		w.contest(ctx, e.RequestID)
		return
	}
	w.note(w.post(ctx, body))
}

// contest has two people decide opposite things at once.
func (w *talker) contest(ctx context.Context, request string) {
	var both sync.WaitGroup
	var said [2]*acknowledged
	for i, verdict := range []string{"approve", "decline"} {
		both.Go(func() { said[i] = w.post(ctx, map[string]string{"requestId": request, "decision": verdict}) })
	}
	both.Wait()
	for _, a := range said {
		w.note(a)
	}
}

// post posts a decision; nil: it was not answered.
func (w *talker) post(ctx context.Context, body map[string]string) *acknowledged {
	body["comment"] = "comment " + uuid.NewString()
	status, said, err := w.site.as(aliceToken).rule(ctx, body)
	if err != nil || status != http.StatusOK {
		return nil
	}
	return &acknowledged{body["requestId"], body["decision"], body["comment"], said}
}

func (w *talker) note(a *acknowledged) {
	if a != nil {
		w.decided[a.request] = true
		w.acked = append(w.acked, *a)
	}
}
