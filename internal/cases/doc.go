// Package cases judges folders of recorded failures against the real program.
//
// A case is a folder: case.md for people, inputs, and expect.json, which says
// what must come of them. Whatever the folder, a judge for its kind drives the
// code that serves users:
//
//	results, err := cases.Run(ctx, "../shared/cases", cases.Options{})
//	for r := range results {
//		fmt.Fprintln(w, r) // "034 pass", "066 skip: area mcp is not in this version"
//	}
//
// The kinds and what they run:
//
//   - stream: a provider that serves the case's bytes, the client of package
//     models, the loop, the gate and a log.
//   - scenario: a process of its own with the HTTP API, the console and a data
//     directory, so that killing it is a kill (see [Node]). Tools are stubs
//     that note what they were run with.
//   - request: the request that package models sends for a history.
//   - policy: package policy.
//   - render: the console of such a process, after a parser of HTML.
//   - query: the history of such a process over a log that holds calls at the
//     case's times, in each of the case's time zones.
//   - metrics: what Prometheus reads of such a process, after calls of tools by
//     the case's names.
//   - http, events, load, steps, build: API, log, views, seals and build.
//
// A judge takes what it understands of expect.json. What is left over is named
// in the line, so that a pass never means more than was looked at; a case of
// which nothing could be judged is skipped.
package cases
