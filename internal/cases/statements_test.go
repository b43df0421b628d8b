package cases_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	statementRow = regexp.MustCompile(`(?m)^\| ([SUM][0-9]+) \| (.+?) \| (.+) \|$`)
	namedTest    = regexp.MustCompile("(?:`([a-z/]+)` )?`(Test[A-Za-z0-9]+)`")
	testFunction = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	namedCase    = regexp.MustCompile(`\b[0-9]{3}\b`)
)

// Every statement stands in docs/statements.md, with tests and cases that exist.
func TestStatementsHaveTheirTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/statements.md")
	require.NoError(t, err)
	tests, found := map[string]map[string]bool{}, map[string]bool{}
	for _, row := range statementRow.FindAllStringSubmatch(string(text), -1) {
		found[row[1]] = true
		named := namedTest.FindAllStringSubmatch(row[3], -1)
		require.NotEmpty(t, named, row[1])
		for _, n := range named {
			folder := n[1]
			if folder == "" {
				folder = "ui"
			}
			if tests[folder] == nil {
				tests[folder] = testsOf(t, folder)
			}
			require.True(t, tests[folder][n[2]], "%s names %s, which %s does not have", row[1], n[2], folder)
		}
		for _, number := range namedCase.FindAllString(row[3], -1) {
			folders, err := filepath.Glob("testdata/cases/" + number + "-*")
			require.NoError(t, err)
			require.Len(t, folders, 1, "%s names case %s", row[1], number)
		}
	}
	for prefix, numbers := range map[string][2]int{"S": {1, 15}, "U": {16, 32}, "M": {33, 42}} {
		for n := numbers[0]; n <= numbers[1]; n++ {
			require.True(t, found[fmt.Sprint(prefix, n)], "%s%d is left out", prefix, n)
		}
	}
}

// testsOf are the tests that a folder's source has.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../" + folder + "/*_test.go")
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(b)
	}
	tests := map[string]bool{}
	for _, m := range testFunction.FindAllStringSubmatch(all.String(), -1) {
		tests[m[1]] = true
	}
	return tests
}
