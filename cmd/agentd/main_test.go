package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binaryEnv names the agentd to test. Without it the tests build one.
const binaryEnv = "AGENTD_BINARY"

// TestMain builds agentd as it is shipped: what these tests run, kill and look
// at from outside is the real program.
func TestMain(m *testing.M) {
	code, err := testBinary(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "build agentd:", err)
		code = 1
	}
	os.Exit(code)
}

func testBinary(m *testing.M) (int, error) {
	if os.Getenv(binaryEnv) != "" {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "agentd-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "agentd")
	build := exec.Command("go", "build", "-tags", "sqlite_fts5", "-o", path, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return 0, err
	}
	if err := os.Setenv(binaryEnv, path); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// needed skips a test for which the machine lacks something, loudly. Where
// REQUIRE_ALL=1 says that the machine has everything, it fails instead.
func needed(t *testing.T, what string, err error) {
	t.Helper()
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatalf("REQUIRE_ALL=1, and %s: %v", what, err)
	}
	t.Skipf("SKIPPED, NOTHING IS PROVED: %s: %v", what, err)
}
