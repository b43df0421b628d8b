package models

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/countersign-dev/countersign/agent"
)

const maxErrorBody = 8 << 10 // bytes of an answer that is no stream

// unreachable is a request that got no answer.
func unreachable(line *idleLine, err error) error {
	var certificate *tls.CertificateVerificationError
	return &agent.TurnError{
		Code:      agent.CodeUnavailable,
		Message:   "the provider cannot be reached: " + line.cause(err).Error(),
		Retryable: !errors.As(err, &certificate),
	}
}

// statusFailure is an answer that refuses the request.
func statusFailure(res *http.Response, body io.Reader) error {
	raw, _ := io.ReadAll(io.LimitReader(body, maxErrorBody)) // as much as came will do
	failure := &agent.TurnError{
		Code:    agent.CodeProviderError,
		Message: fmt.Sprintf("the provider answered with status %d: %s", res.StatusCode, providerWords(raw)),
	}
	status := res.StatusCode
	if status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500 {
		failure.Code, failure.Retryable = agent.CodeUnavailable, true
	}
	return failure
}

// notAStream says what came where an answer ended without one event: an error
// object with status 200, a page of a proxy, or nothing. An answer is read as
// a stream whatever its content type says, because servers get that wrong.
func notAStream(res *http.Response, kept []byte, err error) error {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media == "text/event-stream" || len(kept) == 0 {
		return err
	}
	if b, ok := parseFailure(kept); ok && !empty(b.Error) {
		return providerFailure(b.Error)
	}
	return invalidStream("the provider answered with %q, not with an event stream: %s", media, excerpt(kept, 200))
}
