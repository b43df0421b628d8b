package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/projections"
)

// metrics are agentd's own instruments, beside those of its parts, which know
// the same registry. docs/metrics.md lists them all.
type metrics struct {
	http  *instruments.HTTP
	fresh *prometheus.HistogramVec // projection
}

// registry is where metrics are registered and read: a prometheus.Registry.
type registry interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// newMetrics registers what no part of agentd knows.
func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{fresh: instruments.Histogram("countersign_projection_freshness_seconds",
		"From the append of a record until the views showed it: one observation a transaction, of its newest record.",
		[]float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}, "projection")}
	m.fresh.WithLabelValues(auditViews)
	build := instruments.Gauge("countersign_build_info", "The build that runs; the value is always 1.", "version")
	build.WithLabelValues(countersign.Version()).Set(1)
	err := instruments.RegisterAll(reg, m.fresh, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err != nil {
		return nil, err
	}
	m.http, err = instruments.NewHTTP(reg)
	return m, err
}

// auditViews is the one projection with tables of its own: label projection.
const auditViews = "audit"

// openMetrics comes before everything that registers. A metric that cannot be
// registered is an error of the start: it is the program's, and tests find it.
func (s *server) openMetrics() (err error) {
	if s.registry == nil {
		s.registry = prometheus.NewRegistry()
	}
	s.metrics, err = newMetrics(s.registry)
	return err
}

// exportTotals exports what is counted from the log: of the nodes that share
// one, one does.
func (s *server) exportTotals() error {
	if err := instruments.RegisterAll(s.registry, projections.NewProgress(s.views)); err != nil || !s.cfg.ExportLogMetrics {
		return err
	}
	return instruments.RegisterAll(s.registry, projections.NewCollector(s.views))
}

// scrape is what Prometheus asks. One metric that fails must not take the
// others away: they are served, and the failure is counted.
func (s *server) scrape() (http.Handler, error) {
	h := promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{
		Registry: s.registry, ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
		EnableOpenMetrics: true, MaxRequestsInFlight: 8, Timeout: 10 * time.Second,
	})
	return s.site.Protect(s.scrapers(h))
}

// scrapers lets programs of this machine in, and from elsewhere whoever may
// audit: numbers tell when people work, and how many.
func (s *server) scrapers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fromHere(r) {
			who, err := s.auth.FromRequest(r)
			switch {
			case err != nil:
				w.Header().Set("WWW-Authenticate", `Bearer realm="countersign"`) // RFC 6750, section 3
				http.Error(w, "metrics need the token of an auditor here; on the machine itself, at a loopback address, they are open", http.StatusUnauthorized)
				return
			case !who.Can(auth.Audit):
				http.Error(w, "metrics need a token with the role auditor or admin", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere reports whether a request was sent on this machine, to it, and not
// through a proxy: a proxy passes the public name on, or says for whom it asks.
func fromHere(r *http.Request) bool {
	for _, forwarded := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"} {
		if r.Header.Get(forwarded) != "" {
			return false
		}
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && loopback(local.String()) && loopback(r.RemoteAddr) && loopback(r.Host)
}

// loopback reports whether an address, with or without a port, is of this
// machine alone.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost") || strings.EqualFold(host, auth.LocalHost)
}

// measureViews observes how fresh the views are, until ctx ends. Records that
// were in the log before are left out: they are replayed, and not late.
func (s *server) measureViews(ctx context.Context) {
	began, fresh := s.countersign.Log.Now(), s.metrics.fresh.WithLabelValues(auditViews)
	for last := int64(0); ; {
		status, changed := s.views.Changed()
		at := time.UnixMicro(status.Position.LogTime)
		if at.After(began) && at.UnixMicro() != last {
			last = at.UnixMicro()
			fresh.Observe(max(0, s.countersign.Log.Now().Sub(at).Seconds()))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
