// Package api is the HTTP face of agentd for programs: the chat protocol of
// its agent loop, the decisions of people, and the event schemas.
//
//	a, err := api.New(api.Options{Loop: loop, Gate: gate, Auth: people, Recorder: log})
//	server := &http.Server{Handler: a.Handler()}
//	server.RegisterOnShutdown(a.Stop)
//
// The routes stand in one table (routes.go). A request passes, in this order:
//
//	Host and Origin   auth.Site.Protect, before anything is read
//	who               a bearer token or a session cookie: 401
//	may they          the permission of the route: 403
//	the body          application/json alone, bounded, strict: 415, 413, 400
//	the deed          of agent.Loop or gate.Gate
//
// Refusals of the second and third step are recorded as access events. Every
// error is {"error": {"code", "message"}}, made in one place (errors.go).
//
// A stream is a view of a run: it is told from the run's feed, ends with it,
// and whoever loses it resumes with Last-Event-ID. Nothing that happens to a
// connection changes a run.
//
// How long a body may take to come is for the server to bound, by a read
// deadline of each request. Its requests should outlive the wish to stop: Stop
// ends the streams, and all else is answered in a moment. A request whose
// context ends all the same is answered with 503, never with an empty 200.
//
// A decision is answered after the log has judged it. Its actor is who was
// authenticated, whatever the body says: a body has no member for it.
//
// Control serves agentd's own commands (a sign-in link, a rebuild of the views,
// how it stands) over a socket that only its owner can open.
//
// What happened to streams and posted decisions in this process is counted
// (metrics.go), where Options.Metrics is a registry.
package api
