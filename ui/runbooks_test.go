package ui

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
)

func TestRunbooksAreRead(t *testing.T) {
	all, err := loadRunbooks()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, b := range all {
		require.Contains(t, []string{"critical", "warning"}, b.Severity, b.Slug)
		require.NotEmpty(t, b.Summary, b.Slug)
	}
}

func TestARunbookOfAnotherForm(t *testing.T) {
	for name, text := range map[string]string{
		"empty":       "",
		"no heading":  "LogRefusesWork\n\nCritical. It refuses.\n\n## What it means\n",
		"no severity": "# LogRefusesWork\n\nIt refuses\n\n## What it means\n",
	} {
		_, err := newRunbook(goldmark.New(), text)
		require.ErrorContains(t, err, "begins with a heading", name)
	}
}

// A page is Markdown alone: what is HTML in it is left out, so that it can bring
// nothing inline.
func TestARunbookHasNoHTML(t *testing.T) {
	b, err := newRunbook(goldmark.New(), "# A\n\nCritical. It is.\n\n<script>alert(1)</script>\n\n## What <b onclick=x>it</b> means\n\n[go](javascript:alert(1)) `<i>`\n")
	require.NoError(t, err)
	require.Equal(t, []string{"A", "critical", "It is."}, []string{b.Alert, b.Severity, b.Summary})
	var html bytes.Buffer
	require.NoError(t, b.body.Render(context.Background(), &html))
	for _, bad := range []string{"<script", "onclick", "javascript:", "<i>"} {
		require.NotContains(t, html.String(), bad)
	}
	require.Contains(t, html.String(), "<h2>What ")
}
