package eventstest

import (
	"time"

	"github.com/countersign-dev/countersign/events"
)

func rollback() *events.Rollback {
	return &events.Rollback{
		Kind: events.RollbackShorter, By: events.NotedByHeadFile, Log: digest("first record"), Records: 42, Noted: heads(), Boot: "boot-0",
		At: events.At(Now().Add(-time.Minute)), Found: heads(),
	}
}

// process has the types about processes, people and the record itself.
func (b *builder) process(typ events.Type) events.Event {
	switch typ {
	case events.TypeDefinition:
		return &events.Definition{
			Kind: events.DefinePolicy, Name: "policy.yaml", Digest: digest("policy"), Content: b.own("policy", "application/yaml"),
		}
	case events.TypePerson:
		return &events.Person{Person: Alice, Name: b.own("Alice Example", events.MediaText)}
	case events.TypeBoot:
		return &events.Boot{
			BootID: BootID, Node: "node-1", Version: "v0.1.0", GoVersion: "go1.26.0", Previous: heads(), LastBoot: "boot-0", Clean: true,
			Clock: events.At(Now()), Isolation: "none", Bus: "embedded", Beside: "gate.db", AsksChanged: true,
		}
	case events.TypeAlive:
		return &events.Alive{BootID: BootID, Heads: heads()}
	case events.TypeShutdown:
		return &events.Shutdown{BootID: BootID, Reason: "SIGTERM", Heads: heads()}
	case events.TypeClockStep:
		return &events.ClockStep{BootID: BootID, Before: events.At(Now()), After: events.At(Now().Add(-time.Minute))}
	case events.TypeRecovered:
		return &events.Recovered{BootID: BootID, Calls: []events.CallKey{key()}, Run: RunID}
	case events.TypeAccess:
		return &events.Access{
			Action: "decide", Outcome: events.AccessRefused, Actor: someone(), Resource: RequestID, Reason: "the request had ended", Via: "console",
		}
	case events.TypeCheckpoint:
		return &events.Checkpoint{Origin: "countersign.example/log", Heads: heads(), Note: b.own("a signed note\n", events.MediaText)}
	default:
		return nil
	}
}
