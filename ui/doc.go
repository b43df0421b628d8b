// Package ui is the console: server-rendered pages where reviewers see what an
// agent wants to do, understand it, and decide, and where auditors look back.
//
//	console, err := ui.New(ui.Options{Views: views, Decider: gate, Recorder: log, Auth: store, Declined: wording, …})
//	server.Handler = console.Handler()
//	server.RegisterOnShutdown(console.Stop)
//
// All routes stand in one table (routes.go). A page is a struct of plain values
// (its file, view.go for what they share) and a templ component that shows it
// (the same name, .templ). Pages read projections; deciding goes through the
// gate's one method, Decider. Who may read what is asked in admit.go, what goes
// wrong is put into words in errors.go, and addresses are read strictly: by
// params.go, and what narrows a list by filters.go, the one place that also
// writes such addresses.
//
// # The life of a page
//
// A request is placed in the log (live_place.go), admitted, and answered whole.
// The page tells its script where it was placed; the script opens one stream a
// browser (live.go), which names what has moved since, and never holds a text.
// The page then fetches what it shows, with its reader's own rights. One
// goroutine reads the log for all streams (live_tail.go); it runs while somebody
// listens. Console.Stop ends the streams and the exports.
//
// Exports (export.go) are the lists to their end, in constant memory, with a
// trailer by which a file is known to be whole. Charts (charts.go) and timelines
// (timeline.go) are drawings of numbers that stand in words beside them.
//
// # What a page promises
//
//   - It works without JavaScript: real forms, a redirect after each post. The
//     script keeps clocks, queue, lists and open sessions fresh, knows shortcuts
//     and desktop notices, and never moves what somebody reads or types.
//   - Nothing of others acts: all their text goes through package visible, so
//     that no control or direction character reaches the browser, and the policy
//     in headers.go allows no inline script or style.
//   - Above the buttons stand our own facts and the exact arguments. What a model
//     or a tool wrote stands below, marked as theirs.
//   - What is cut says so, with its size, and leads to the rest.
//   - Who may not decide sees why, and no form.
//   - No page leads to another call by itself. After a decision the request's
//     page tells what became of it, and the link to the next one has the focus.
//   - Several requests are decided at once (bulk.go) only where they are of one
//     tool and one rule, and each is on the page whole. Each gets its own decision.
//   - What the gate would refuse of changed arguments is refused before approving
//     is offered, in its words (Options.Checker).
//   - Shortcuts (keys.go, js/5-keys.js) can be switched off; to approve takes two
//     strokes. The Enter key in a text field decides nothing.
//   - Every view of a payload leaves an access event, one for each person, thing
//     and hour.
package ui
