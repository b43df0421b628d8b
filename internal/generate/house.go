package generate

import (
	"encoding/hex"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// boots tells the first events of the log: the process, what its policy and its
// tools are, and who is who.
func (t *telling) boots() {
	t.tell(&events.Boot{
		BootID: t.boot, Node: node, Version: "generated", GoVersion: "generated", Previous: []events.Head{},
		Clock: events.At(t.now), Isolation: "none", Bus: "embedded",
	}, about{idle: unfolded})
	for _, def := range t.trade.definitions {
		p := t.d.payload(def.content)
		t.tell(&events.Definition{
			Kind: def.kind, Name: def.name, Digest: events.DigestOf(def.content), Content: p.Ref(def.media),
		}, about{idle: unfolded, payloads: []events.Payload{p}})
	}
	for _, who := range slices.Concat(t.cast.reviewers, t.cast.people) {
		p := t.d.payload([]byte(who.name))
		t.tell(&events.Person{Person: who.id, Name: p.Ref(events.MediaText)}, about{idle: unfolded, payloads: []events.Payload{p}})
	}
}

// signIns tells who signed in on a day, and who tried to.
func (t *telling) signIns(day time.Time) {
	morning := time.Date(day.Year(), day.Month(), day.Day(), 8, 0, 0, 0, time.UTC)
	if !morning.After(t.now) {
		return
	}
	quiet := day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
	for _, who := range t.cast.reviewers {
		if quiet && t.d.chance(0.8) {
			continue
		}
		at := morning.Add(t.d.around(40*time.Minute, 0.8, 6*time.Hour))
		if at.After(t.week.until) {
			continue
		}
		if t.d.chance(0.05) {
			t.plan(at.Add(-20*time.Second), func() {
				t.tell(&events.Access{
					Action: "sign-in", Outcome: events.AccessRefused, Reason: "the token is not known", Via: "console",
				}, about{idle: unfolded})
			})
		}
		t.plan(at, func() {
			t.tell(&events.Access{Action: "sign-in", Outcome: events.AccessOK, Actor: who.actor(t.now), Via: "console"}, about{idle: unfolded})
		})
	}
	t.play()
}

// stops tells the last event: the process was asked to stop.
func (t *telling) stops(head journal.Head) {
	t.now = t.o.Until
	e := &events.Shutdown{BootID: t.boot, Reason: "asked", Heads: []events.Head{}}
	for _, p := range head.Partitions {
		e.Heads = append(e.Heads, events.Head{Partition: p.Partition, Size: p.Size, Root: events.Digest(hex.EncodeToString(p.Root[:]))})
	}
	t.tell(e, about{idle: unfolded})
}
