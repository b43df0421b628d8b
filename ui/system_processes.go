package ui

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// processRow is what a process said of itself.
type processRow struct {
	When  whenView
	Place string
	Chip  chip
	Words string
}

func processRows(list []projections.Process) []processRow {
	out := make([]processRow, 0, len(list))
	for _, p := range list {
		row := processRow{When: when(p.At, ""), Place: place(p.At)}
		row.Chip, row.Words = processWords(p.Event)
		out = append(out, row)
	}
	return out
}

func processWords(e events.Event) (c chip, words string) {
	switch e := e.(type) {
	case *events.Boot:
		words = visible.String(e.Node) + ", version " + visible.String(e.Version) + ", " + visible.String(e.GoVersion) +
			", bus " + visible.String(e.Bus) + ", isolation " + visible.String(e.Isolation)
		if e.Beside != "" {
			words += "; found beside it, of another log: " + visible.String(e.Beside)
		}
		if e.LastBoot != "" && !e.Clean {
			return chip{"odd", "warn", "Started, after a crash"}, words
		}
		return chip{"ok", "check", "Started"}, words
	case *events.Shutdown:
		return chip{"gone", "cross", "Stopped"}, visible.String(e.Reason)
	case *events.Recovered:
		return chip{"odd", "warn", "Recovered"}, recoveredWords(e)
	case *events.ClockStep:
		step := e.After.Sub(e.Before.Time)
		if step < 0 {
			return chip{"odd", "warn", "Back"}, "by " + span(-step) + ": from " + clockDate(e.Before.Time) + " to " + clockDate(e.After.Time) + " UTC"
		}
		return chip{"odd", "warn", "Forward"}, "by " + span(step) + ": from " + clockDate(e.Before.Time) + " to " + clockDate(e.After.Time) + " UTC"
	default:
		return chip{"plain", "", string(e.Type())}, ""
	}
}

// buildFacts say what runs, and where.
func (c *Console) buildFacts(list []projections.Process) []factView {
	facts := []factView{
		{Name: "Version", Value: c.opt.Version},
		{Name: "Built with", Value: builtWith()},
		{Name: "Schema of the views", Value: c.views.Stamp()},
		{Name: "Isolation of tools", Value: c.opt.Isolation},
	}
	for _, p := range list {
		if boot, ok := p.Event.(*events.Boot); ok {
			facts = append(facts, factView{Name: "Bus", Value: visible.String(boot.Bus)}, factView{Name: "Node", Value: visible.String(boot.Node)})
			break
		}
	}
	if c.opt.Room != nil {
		if free, total, ok := c.opt.Room(); ok {
			facts = append(facts, factView{Name: "Room for the log", Value: mebibytes(free) + " free of " + mebibytes(total)})
		}
	}
	return facts
}

// builtWith is the compiler, and the revision where the build knows it.
func builtWith() string {
	words := []string{runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				words = append(words, s.Value[:min(12, len(s.Value))])
			}
		}
	}
	return strings.Join(words, ", ")
}

func mebibytes(n uint64) string { return group(n>>20) + " MiB" }
