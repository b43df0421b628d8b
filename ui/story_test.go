package ui_test

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// define puts a text behind a digest onto the record.
func (w *world) define(kind events.DefinitionKind, name, text string) {
	p, digest := events.NewPayload([]byte(text)), events.DigestOf([]byte(text))
	if kind == events.DefinePolicy {
		w.log.Policy = digest // what is written from now on was judged under it
	}
	w.log.Append(events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
		Kind: kind, Name: name, Digest: digest, Content: p.Ref(events.MediaJSON),
	}})
}

const policyText = `{"allowed_tools":[],"denied_tools":["Deploy"],"format":"countersign/policy/1","required_tools":["Bash","Write"],` +
	`"start_within":"5m0s","timeout":"3m0s"}`

func toolText(name, description string) string {
	return fmt.Sprintf(`{"description":%q,"isolation":"none","name":%q,"read_only":false,"return_direct":false,`+
		`"schema":{"properties":{"command":{"type":"string"}},"type":"object"},"source":"builtin-tools"}`, description, name)
}

// richStory writes a world in which much has happened: definitions, boots, a
// release in session "release", and a night's work in "night".
func richStory(w *world) {
	w.log.Append(events.Draft{Data: &events.Boot{
		BootID: "boot-1", Node: "node-1", Version: "v0.1.0", GoVersion: "go1.26.0", Previous: []events.Head{}, LastBoot: "boot-0",
		Clock: events.At(w.log.Now()), Isolation: "none", Bus: "embedded",
	}})
	w.define(events.DefinePolicy, "policy", policyText)
	for _, name := range []string{"Read", "Write", "Bash", "Glob", "Deploy"} {
		w.define(events.DefineTool, name, toolText(name, "Does what "+name+" does."))
	}
	w.log.Advance(time.Hour)
	w.define(events.DefineTool, "Bash", toolText("Bash", "Runs a command, now with more care."))
	ben, dana := w.log.Person("p-ben", "Ben Okafor", "reviewer"), w.log.Person("p-dana", "Dana Lindqvist", "reviewer")
	w.log.Person("carla", "Carla Reyes", "agent")
	w.release(ben, dana)
	w.night(ben)
	w.log.Append(events.Draft{Data: &events.ClockStep{
		BootID: "boot-1", Before: events.At(w.log.Now()), After: events.At(w.log.Now().Add(-time.Minute)),
	}})
	w.log.AppendRaw("release", []byte("\x00 not JSON"))
	w.settle()
}

// release is a run of some minutes, with one of each outcome.
func (w *world) release(ben, dana events.Actor) {
	l := w.log
	run := l.Run("release", "carla", "Release 2026-11-30 to production")
	l.Advance(4 * time.Second)
	l.Round("release", run, "b1", 1, 3, "I will clean the build, and write the change log.")
	read := l.Propose("release", run, "b1", 0, "Read", `{"path":"migrations/0042_release.sql"}`, events.EffectAllow)
	bash, q := l.Protected("release", run, "b1", 1, "Bash", `{"command":"rm -rf ./build && make release"}`)
	write, q2 := l.Protected("release", run, "b1", 2, "Write", `{"path":"CHANGELOG.md","content":"# 2026-11-30"}`)
	l.Start(read, nil, "")
	l.Advance(31 * time.Millisecond)
	l.Result(read, events.StatusOK, events.CausePolicy, "select 1")
	l.Advance(20 * time.Second)
	l.Decide(q2, dana, events.VerdictDecline, "The date is wrong")
	l.Result(write, events.StatusDeclined, events.CauseHuman, "Dana declined")
	l.Advance(40 * time.Second)
	l.Decide(q2, ben, events.VerdictApprove, "")
	decision := l.Decide(q, ben, events.VerdictApprove, "Checked the path")
	l.Start(bash, &q, decision)
	w.viewed("release", ben, dana, ben)
	l.Advance(35 * time.Second)
	l.Result(bash, events.StatusOK, events.CauseHuman, "built")
	l.Advance(9 * time.Second)
	l.Round("release", run, "b2", 2, 2, "Now I deploy.")
	psql, q3 := l.Protected("release", run, "b2", 0, "Bash", `{"command":"psql -f 0042.sql"}`)
	deploy := l.Propose("release", run, "b2", 1, "Deploy", `{"to":"production"}`, events.EffectDeny)
	l.Result(deploy, events.StatusDeclined, events.CausePolicy, "denied")
	l.Advance(30 * time.Second)
	changed, modified := l.Modify(q3, ben, `{"command":"psql --dry-run -f 0042.sql"}`)
	l.Start(psql, &changed, modified)
	l.Advance(12 * time.Second)
	l.Result(psql, events.StatusError, events.CauseHuman, "no such table")
	l.Advance(3 * time.Second)
	l.Append(events.Draft{Session: "release", Data: &events.RunFinished{
		RunID: run, Reason: events.FinishStop, Rounds: 3, Calls: 5, Usage: events.Usage{Prompt: 18000, Completion: 402, Total: 18402},
	}})
}

// viewed writes that people looked at a session.
func (w *world) viewed(session string, people ...events.Actor) {
	for _, p := range people {
		w.log.Append(events.Draft{Session: session, Data: &events.Access{
			Action: "view", Outcome: events.AccessOK, Actor: &p, Resource: "session " + session, Via: "console",
		}})
	}
}

// run begins another run of a session.
func (w *world) run(session, query string) string {
	p, actor := events.NewPayload([]byte(query)), pt.Actor("carla", "agent")
	e := &events.RunStarted{
		RunID: "run " + query, Principal: "carla", Actor: &actor, Agent: events.Agent{Name: "deploy-bot"}, Query: p.Ref(events.MediaText),
		Model: "default", ToolsDigest: pt.Digest("tools"), PolicyDigest: pt.Digest("policy"),
	}
	w.log.Append(events.Draft{Session: session, Payloads: []events.Payload{p}, Data: e})
	return e.RunID
}

// night is a session with hours in which nothing happens, many calls, and one
// that still waits.
func (w *world) night(ben events.Actor) {
	l := w.log
	for n := range 24 {
		run, batch := w.run("night", fmt.Sprintf("Check %d", n)), fmt.Sprintf("n%d", n)
		l.Round("night", run, batch, 1, 2, "Looking.")
		glob := l.Propose("night", run, batch, 0, "Glob", `{"pattern":"**/*.go"}`, events.EffectAllow)
		l.Start(glob, nil, "")
		l.Advance(time.Duration(n) * 90 * time.Millisecond)
		l.Result(glob, events.StatusOK, events.CausePolicy, "a.go")
		call, q := l.Protected("night", run, batch, 1, "Bash", fmt.Sprintf(`{"command":"check %d"}`, n))
		if n == 23 {
			return
		}
		w.answer(n, call, q, ben)
		l.Append(events.Draft{Session: "night", Data: &events.RunFinished{RunID: run, Reason: events.FinishStop, Rounds: 1, Calls: 2}})
		l.Advance(time.Duration(n%5) * 50 * time.Minute)
	}
}

func (w *world) answer(n int, call pt.Call, q pt.Request, ben events.Actor) {
	l := w.log
	if n%7 == 3 {
		l.Advance(3*time.Minute + time.Second)
		l.End(q, events.CauseTimeout)
		l.Result(call, events.StatusExpired, events.CauseTimeout, "nobody answered")
		return
	}
	l.Advance(time.Duration(1+n*n%40) * time.Second)
	decision := l.Decide(q, ben, events.VerdictApprove, "")
	l.Start(call, &q, decision)
	l.Advance(time.Duration(n%6) * 700 * time.Millisecond)
	l.Result(call, events.StatusOK, events.CauseHuman, "fine")
}
