package ui

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/projections"
)

func TestEveryPageSaysWhatIsWrongWithWhatItShows(t *testing.T) {
	const building = "The views are being built (43 %): what is shown is not complete, or not the newest."
	for _, c := range []struct {
		name      string
		isolation string
		status    projections.Status
		want      []string
	}{
		{"all is well", "namespaces", projections.Status{}, nil},
		{"building", "namespaces", projections.Status{Rebuilding: &projections.Rebuilding{Done: 43, Total: 100}}, []string{building}},
		{"before its first record", "namespaces", projections.Status{Rebuilding: &projections.Rebuilding{}}, []string{
			"The views are being built (0 %): what is shown is not complete, or not the newest.",
		}},
		{"indexing", "namespaces", projections.Status{Rebuilding: &projections.Rebuilding{Done: 9, Total: 9, Indexing: true}}, []string{
			"The views are being built (indexes are being made): what is shown is not complete, or not the newest.",
		}},
		{"standing still, and no isolation", "none", projections.Status{Records: 1, Fault: "the disk is full\u202e"}, []string{
			"The views stand still, so pages show what was so before: the disk is full⟦U+202E⟧",
			"Tools are not shut off from this program (isolation: none): what they run could reach its files.",
		}},
		{"no tool can be shut off", "unavailable", projections.Status{}, []string{
			"This machine cannot shut tools off, so tools that start a process do not run. agentd doctor says what is missing.",
		}},
		{"given up, and no room for new ones", "namespaces", projections.Status{Head: 9, Lost: 1, Fault: "there is not room enough"}, []string{
			"The views stand still, and know nothing of the log: there is not room enough",
		}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, banners(c.isolation, c.status)) })
	}
}
