package ui

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"
)

// drawn renders a component for a test to look at.
func drawn(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, c.Render(t.Context(), &b))
	doc, err := goquery.NewDocumentFromReader(&b)
	require.NoError(t, err)
	return doc
}

func wordsOf(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }

func someSeries() []series {
	return []series{{Class: fillOK, Words: "ran"}, {Class: fillError, Words: "failed"}, {Class: fillExpired, Words: "expired"}}
}

func someColumns() []column {
	return []column{
		{Label: "1 Nov", Long: "Sun 1 November", Values: []int{12, 3, 0}},
		{Label: "2 Nov", Long: "Mon 2 November", Values: []int{0, 0, 0}},
		{Label: "3 Nov", Long: "Tue 3 November", Values: []int{1400, 1, 0}},
	}
}

func TestNumbersOfAChartsTableAreThoseOfItsBars(t *testing.T) {
	doc := drawn(t, columnsChart(columnsOf("c", "Calls", "Day (UTC)", someSeries(), someColumns())))
	var head []string
	doc.Find("thead th").Each(func(_ int, s *goquery.Selection) { head = append(head, wordsOf(s)) })
	require.Equal(t, []string{"Day (UTC)", "Ran", "Failed", "Together"}, head, "a series without a number has no column")
	titles := doc.Find("svg.column > title")
	rows := doc.Find("tbody tr")
	require.Equal(t, 3, titles.Length())
	require.Equal(t, 3, rows.Length())
	number := regexp.MustCompile(`(\d[\d,]*) (\w+)`)
	rows.Each(func(i int, row *goquery.Selection) {
		title := titles.Eq(i).Text()
		long, rest, ok := strings.Cut(title, ": ")
		require.True(t, ok, title)
		require.Equal(t, long, wordsOf(row.Find("th")))
		inTitle := map[string]string{}
		for _, m := range number.FindAllStringSubmatch(rest, -1) {
			inTitle[m[2]] = m[1]
		}
		row.Find("td").Each(func(k int, cell *goquery.Selection) {
			name := strings.ToLower(head[k+1])
			if name == "together" {
				return
			}
			want := wordsOf(cell)
			if want == "0" {
				require.NotContains(t, inTitle, name)
				return
			}
			require.Equal(t, want, inTitle[name], title)
		})
	})
	require.Equal(t, "1,412 ran, 4 failed.", doc.Find("svg.columns > desc").Text())
}

func TestColumnsStandOnTheBaseAndEndAtTheirNumber(t *testing.T) {
	v := columnsOf("c", "Calls", "Day", someSeries(), someColumns())
	require.Equal(t, "2,000", v.Top)
	require.Equal(t, "1,000", v.Half)
	for i, c := range v.Columns {
		bottom := float64(plotHeight)
		for _, p := range c.Parts {
			y, height := float(t, p.Y), float(t, p.Height)
			require.InDelta(t, bottom, y+height, 0, "column %d", i)
			require.GreaterOrEqual(t, height, 1.0, "what is not zero is seen")
			bottom = y
		}
		require.GreaterOrEqual(t, bottom, -3.0, "no more than its smallest parts above the top")
	}
	require.Empty(t, v.Columns[1].Parts)
	require.Equal(t, "Mon 2 November: none", v.Columns[1].Title)
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	require.NoError(t, err)
	return f
}

func TestScalesEndAtARoundNumber(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 4, 4: 4, 5: 5, 6: 10, 11: 20, 21: 40, 41: 50, 51: 100, 1401: 2000} {
		require.Equal(t, want, roundUp(n), n)
	}
}

func TestASharedBarIsAsLongAsItsWhole(t *testing.T) {
	v := stackOf([]series{{Class: fillOK, Words: "ran", Total: 7}, {Class: fillError, Words: "failed"}, {Class: fillDeclined, Words: "declined", Total: 2}})
	require.Equal(t, "7 ran, 2 declined", v.Words)
	require.Len(t, v.Parts, 2)
	require.InDelta(t, 100, float(t, v.Parts[1].X)+float(t, v.Parts[1].Width), 0.01)
	doc := drawn(t, stackBar(v))
	require.Equal(t, "7 ran, 2 declined", wordsOf(doc.Find(".words")))
	require.Equal(t, "url(#p-declined)", doc.Find("rect").Eq(1).AttrOr("fill", ""))
	require.Equal(t, "none", wordsOf(drawn(t, stackBar(stackOf(nil))).Find(".hint")))
}

func TestSharesNeverSayAllOrNothingOfWhatIsNot(t *testing.T) {
	for _, c := range []struct {
		part, whole int
		want        string
	}{{0, 0, "–"}, {0, 9, "0 %"}, {1, 1000, "under 1 %"}, {1, 3, "33 %"}, {2, 3, "67 %"}, {999, 1000, "over 99 %"}, {9, 9, "100 %"}} {
		require.Equal(t, c.want, share(c.part, c.whole))
	}
}

func TestEachPatternThatAChartUsesIsDefined(t *testing.T) {
	doc := drawn(t, chartPatterns())
	for _, class := range []string{fillError, fillOdd, fillDeclined, fillExpired, fillCancelled, fillChanged} {
		require.Equal(t, 1, doc.Find("pattern#p-"+class).Length(), class)
	}
}
