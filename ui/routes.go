package ui

import (
	"net/http"

	"github.com/countersign-dev/countersign/internal/auth"
)

// access says who may call a route.
type access int

const (
	anyone   access = iota
	readers         // reviewers and auditors
	auditors        // auditors
	decider         // who may decide
	admins          // who may change the policy
)

// route is a row of the table.
type route struct {
	pattern string
	who     access
	handler func(*Console, http.ResponseWriter, *http.Request, auth.Identity) error
}

// table holds every route of the console.
func table() []route {
	return []route{
		{"GET /{$}", anyone, (*Console).home},
		{"GET /sign-in", anyone, (*Console).signInPage},
		{"POST /sign-in", anyone, (*Console).signIn},
		{"POST /sign-out", anyone, (*Console).signOut},
		{"GET /assets/{name}", anyone, (*Console).asset},
		{"GET /docs/runbooks", anyone, (*Console).runbookList},
		{"GET /docs/runbooks/{alert}", anyone, (*Console).runbook},

		{"GET /inbox", readers, (*Console).inbox},
		{"GET /inbox/queue", readers, (*Console).queue},
		{"GET /keys", readers, (*Console).keys},
		{"GET /inbox/select", decider, (*Console).bulkSelect},
		{"POST /inbox/decide", decider, (*Console).bulkDecide},
		{"GET /requests/{id}", readers, (*Console).request},
		{"GET /requests/{id}/state", readers, (*Console).requestState},
		{"GET /requests/{id}/text", readers, (*Console).requestText},
		{"GET /requests/{id}/download", readers, (*Console).requestDownload},
		{"GET /requests/{id}/preview", readers, (*Console).previewText},
		{"GET /requests/{id}/preview/download", readers, (*Console).previewDownload},
		{"POST /requests/{id}/change", decider, (*Console).change},
		{"POST /requests/{id}/decide", decider, (*Console).decide},
		{"POST /requests/{id}/revoke", decider, (*Console).revoke},

		{"GET /history", readers, (*Console).history},
		{"POST /history/export", readers, (*Console).historyExport},
		{"GET /call", readers, (*Console).call},
		{"GET /call/text", readers, (*Console).callText},
		{"GET /call/download", readers, (*Console).callDownload},
		{"GET /at/{partition}/{offset}", readers, (*Console).recordPage},
		{"GET /at/{partition}/{offset}/{of}", readers, (*Console).recordBytes},
		{"GET /access", auditors, (*Console).accessLog},
		{"POST /access/export", auditors, (*Console).accessExport},
		{"GET /sessions", readers, (*Console).sessions},
		{"GET /session", readers, (*Console).session}, // ids are anything, so they stand in the query
		{"GET /sessions/{id}", readers, (*Console).session},
		{"GET /session/live", readers, (*Console).sessionLive},
		{"GET /violations", readers, (*Console).violations},
		{"GET /tools", readers, (*Console).tools},
		{"GET /tools/view", readers, (*Console).tool},
		{"GET /insights", readers, (*Console).insights},
		{"GET /system", readers, (*Console).system},
		{"GET /system/policy", readers, (*Console).policyPage},
		{"POST /system/policy/reload", admins, (*Console).policyReload},
		{"POST /system/policy/confirm", admins, (*Console).policyConfirm},
		{"GET /system/aside", auditors, (*Console).asideText},
		{"GET /system/aside/download", auditors, (*Console).asideDownload},
		{"GET /live", readers, (*Console).live},
	}
}

// routes is the table as a handler.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range table() {
		mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) {
			req = c.placed(req)
			who, err := c.admit(req, r.who)
			if err == nil {
				err = c.mayAnswer(r.pattern, req)
			}
			if err == nil {
				err = r.handler(c, w, req, who)
			}
			if err != nil {
				c.fail(w, req, who, err)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		who, _ := c.opt.Auth.FromRequest(req) // nobody sees less than somebody here
		c.fail(w, req, who, errNoPage)
	})
	return mux
}

// home leads to the inbox.
func (c *Console) home(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	http.Redirect(w, r, "/inbox", http.StatusSeeOther)
	return nil
}
