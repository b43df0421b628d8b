package main_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGenerateRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "agentd generate --events N --data-dir DIR"},
		{[]string{"--events", "-1"}, "numbers of events, sessions and runs are 0 or more"},
		{[]string{"--events", "5", "--sessions", "5"}, "give --events or --sessions, not both"},
		{[]string{"--events", "5", "--days", "0"}, "--days is 0, want 1 to 3650"},
		{[]string{"--events", "5", "--until", "tomorrow"}, `"tomorrow"`},
		{[]string{"--events", "many"}, `"many"`},
	} {
		require.Contains(t, refused(t, t.TempDir(), wrongConfiguration, nil, append([]string{"generate"}, c.args...)...), c.want)
	}
}

// The same flags make the same log, and never over another one.
func TestGenerateMakesTheSameLog(t *testing.T) {
	sealed := regexp.MustCompile(`the log has [0-9]+ records, head [0-9a-f]{64}`)
	dir := t.TempDir()
	var heads []string
	for _, data := range []string{"a", "b"} {
		args := []string{"generate", "--data-dir", data, "--sessions", "30", "--pending", "2", "--seed", "9", "--days", "4", "--until", "2026-11-20T17:00:00Z"}
		made := agentd(t, dir, nil, args...)
		require.Zero(t, made.code, made.stderr)
		require.Regexp(t, `^[0-9]+ events of 32 sessions, [0-9.]+ MB, in [0-9.]+ s, [0-9]+ events/s\n`, made.out)
		heads = append(heads, sealed.FindString(made.out))
		require.Contains(t, refused(t, dir, 1, nil, args...), "holds a journal already")
	}
	require.NotEmpty(t, heads[0])
	require.Equal(t, heads[0], heads[1])
}
