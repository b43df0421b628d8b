package instruments

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// HTTP counts requests by the pattern of their route.
type HTTP struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// NewHTTP returns the instruments of a server.
func NewHTTP(reg prometheus.Registerer) (*HTTP, error) {
	h := &HTTP{
		requests: Counter("countersign_http_requests_total", "Requests answered, by the pattern of their route.", "handler", "method", "code"),
		duration: Histogram("countersign_http_request_duration_seconds", "From a request's head to the end of its answer; live streams are left out.",
			[]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}, "handler", "method"),
	}
	return h, RegisterAll(reg, h.requests, h.duration)
}

// Handler counts what next serves. The innermost mux names the pattern, so that
// no address that somebody makes up becomes a label.
func (h *HTTP) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, out := time.Now(), &answer{ResponseWriter: w}
		whole := false
		defer func() {
			if !whole && out.status == 0 { // the handler panics, and net/http cuts the connection
				out.status = http.StatusInternalServerError
			}
			handler, method := patternOf(r), methodOf(r)
			h.requests.WithLabelValues(handler, method, out.code()).Inc()
			if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
				h.duration.WithLabelValues(handler, method).Observe(time.Since(began).Seconds())
			}
		}()
		next.ServeHTTP(out, r)
		whole = true
	})
}

// patternOf is the path of the route that served a request. The routes that
// take all that no other does are one.
func patternOf(r *http.Request) string {
	_, path, found := strings.Cut(r.Pattern, " ")
	if !found {
		path = r.Pattern
	}
	if path == "" || path == "/" {
		return Other
	}
	return path
}

func methodOf(r *http.Request) string {
	if slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions}, r.Method) {
		return r.Method
	}
	return Other
}

// answer remembers the status of an answer.
type answer struct {
	http.ResponseWriter
	status int
}

// Unwrap lets http.ResponseController reach what sets deadlines and flushes.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// code is the status as a label. A handler that wrote nothing has said 200.
func (a *answer) code() string {
	if a.status == 0 {
		return strconv.Itoa(http.StatusOK)
	}
	return strconv.Itoa(a.status)
}
