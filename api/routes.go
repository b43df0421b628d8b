package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/auth"
)

// anyone is the permission of routes for which nobody is asked who they are.
const anyone auth.Permission = ""

// route is a row of the table.
type route struct {
	method, path string
	needs        auth.Permission
	action       string // what a refusal is recorded as
	handler      func(*API, http.ResponseWriter, *http.Request, auth.Identity) error
}

// table holds every route.
func table() []route {
	return []route{
		{http.MethodPost, "/chat/stream", auth.Chat, "chat", (*API).ask},
		{http.MethodGet, "/chat/stream/{conversationId}", auth.Chat, "chat-read", (*API).resume},
		{http.MethodDelete, "/chat/stream/{conversationId}", auth.Chat, "chat-cancel", (*API).cancel},
		{http.MethodPost, "/chat/approval", auth.Decide, "decide", (*API).decide},

		{http.MethodGet, "/schemas/{type}/{version}", anyone, "", (*API).schema},
		{http.MethodGet, "/healthz", anyone, "", (*API).healthy},
		{http.MethodGet, "/readyz", anyone, "", (*API).ready},
	}
}

// guarded is the table behind the checks of Host and Origin. Front ends
// elsewhere may call /chat alone.
func (a *API) guarded() (http.Handler, error) {
	routes := a.routes()
	chat, err := a.opt.Site.Protect(routes, a.opt.AllowedOrigins...)
	if err != nil {
		return nil, fmt.Errorf("allowed-origins: %w", err)
	}
	rest, err := a.opt.Site.Protect(routes)
	if err != nil {
		return nil, fmt.Errorf("public-url: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if strings.HasPrefix(r.URL.Path, "/chat/") {
			chat.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	}), nil
}

// routes is the table as a handler.
func (a *API) routes() http.Handler {
	mux := http.NewServeMux()
	byPath := map[string][]route{}
	for _, r := range table() {
		byPath[r.path] = append(byPath[r.path], r)
	}
	for path, routes := range byPath {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, routes) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, refuse(http.StatusNotFound, "no_such_route", "there is nothing at %.200q", r.URL.Path))
	})
	return mux
}

// serve picks the route of the method, asks who is there, and serves.
func (a *API) serve(w http.ResponseWriter, r *http.Request, routes []route) {
	i := slices.IndexFunc(routes, func(o route) bool { return o.method == r.Method })
	if i < 0 {
		a.wrongMethod(w, r, routes)
		return
	}
	who, err := a.admit(r, routes[i])
	if err == nil && a.opt.ReadOnly != nil && routes[i].needs != anyone {
		err = refuse(http.StatusServiceUnavailable, "read_only", "%v", a.opt.ReadOnly)
	}
	if err == nil {
		err = routes[i].handler(a, w, r, who)
	}
	if err != nil {
		a.fail(w, r, err)
	}
}

func (a *API) wrongMethod(w http.ResponseWriter, r *http.Request, routes []route) {
	var methods []string
	for _, o := range routes {
		methods = append(methods, o.method)
	}
	allowed := strings.Join(methods, ", ")
	w.Header().Set("Allow", allowed)
	a.fail(w, r, refuse(http.StatusMethodNotAllowed, "wrong_method", "%.20s is not served here: use %s", r.Method, allowed))
}
