package ui

import (
	"strconv"
	"strings"
)

// Charts are pure functions from numbers to drawings: plain values, which a
// template writes as SVG with presentation attributes. Each has a table of the
// same numbers, and no colour says what pattern and words do not.

// series is what one colour and pattern of a chart stands for.
type series struct {
	Class string // the pattern: see chartPatterns
	Words string // "failed"
	Total int
}

// column is the numbers of one step of a chart, one a series.
type column struct {
	Label  string // short, below the column
	Long   string // in titles and in the table: "30 November"
	Values []int
}

func (c column) total() (n int) {
	for _, v := range c.Values {
		n += v
	}
	return n
}

// columnsView is a chart of columns, each of which stacks its series.
type columnsView struct {
	ID      string // of the chart in its page
	Name    string // what it shows
	Of      string // what its rows are: "Day (UTC)"
	Desc    string // the numbers that matter most, in a sentence
	Series  []series
	Columns []columnView
	Top     string // the greatest number of the scale
	Half    string // "" where it is no whole number
	Table   tableView
}

type columnView struct {
	Title    string
	X, Width string
	Parts    []partView
	// Where its label stands, and the label; "" where there is no room.
	Center, Label string
	Between       bool // a label that a small screen leaves out
}

// partView is a part of a column, which gives its place across, or of a bar,
// which gives its place down.
type partView struct {
	Class, X, Width, Y, Height string
}

// tableView is the numbers of a chart.
type tableView struct {
	Head []string
	Rows [][]string
}

// How a chart of columns is laid out: the height is in pixels, since text in
// it must not shrink with the screen.
const (
	plotHeight = 160
	fullColumn = 0.76 // how much of its step a column fills
	maxLabels  = 8
)

// columnsOf draws columns. All have as many values as there are series.
func columnsOf(id, name, of string, all []series, columns []column) columnsView {
	v := columnsView{ID: id, Name: name, Of: of}
	used := make([]int, 0, len(all))
	greatest, total := 0, 0
	for i, s := range all {
		for _, c := range columns {
			s.Total += c.Values[i]
		}
		if s.Total > 0 || len(all) == 1 {
			used, v.Series = append(used, i), append(v.Series, s)
		}
		total += s.Total
	}
	for _, c := range columns {
		greatest = max(greatest, c.total())
	}
	top := roundUp(greatest)
	v.Top = group(top)
	if top%2 == 0 {
		v.Half = group(top / 2)
	}
	for i, c := range columns {
		v.Columns = append(v.Columns, c.draw(i, len(columns), top, used, all))
	}
	v.Desc = seriesWords(v.Series) + "."
	v.Table = columnsTable(of, v.Series, used, columns)
	return v
}

// draw is one column of n.
func (c column) draw(i, n, top int, used []int, all []series) columnView {
	step := 100 / float64(n)
	x, width := step*(float64(i)+(1-fullColumn)/2), step*fullColumn
	v := columnView{Title: c.Long + ": " + c.words(used, all), X: ofWidth(x), Width: ofWidth(width), Center: ofWidth(step * (float64(i) + 0.5))}
	if every := (n + maxLabels - 1) / maxLabels; i%every == 0 {
		v.Label, v.Between = c.Label, i%(2*every) != 0
	}
	bottom, sum := plotHeight, 0
	for _, k := range used {
		if c.Values[k] == 0 {
			continue
		}
		sum += c.Values[k]
		y := min(bottom-1, plotHeight-int(float64(plotHeight)*float64(sum)/float64(top)+0.5)) // what is not zero is seen
		v.Parts = append(v.Parts, partView{Class: all[k].Class, Y: digits(y), Height: digits(bottom - y)})
		bottom = y
	}
	return v
}

// words are a column's numbers: "12 ran, 2 failed".
func (c column) words(used []int, all []series) string {
	var parts []string
	for _, k := range used {
		if c.Values[k] > 0 {
			parts = append(parts, group(c.Values[k])+" "+all[k].Words)
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func seriesWords(all []series) string {
	parts := make([]string, 0, len(all))
	for _, s := range all {
		parts = append(parts, group(s.Total)+" "+s.Words)
	}
	return strings.Join(parts, ", ")
}

func columnsTable(of string, shown []series, used []int, columns []column) tableView {
	t := tableView{Head: []string{of}}
	for _, s := range shown {
		t.Head = append(t.Head, sentenceCase(s.Words))
	}
	if len(shown) > 1 {
		t.Head = append(t.Head, "Together")
	}
	for _, c := range columns {
		row := []string{c.Long}
		for _, k := range used {
			row = append(row, group(c.Values[k]))
		}
		if len(shown) > 1 {
			row = append(row, group(c.total()))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// roundUp is the least of 1, 2, 4, 5, 10, 20, 40, 50, 100 … that is not below n.
func roundUp(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, k := range []int{1, 2, 4, 5} {
			if k*unit >= n {
				return k * unit
			}
		}
	}
}

func sentenceCase(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// stackView is a bar of shares, with its numbers in words.
type stackView struct {
	Parts []partView
	Words string
}

// stackOf draws how the numbers of series share a bar.
func stackOf(all []series) stackView {
	total := 0
	var some []series
	for _, s := range all {
		if s.Total > 0 {
			total, some = total+s.Total, append(some, s)
		}
	}
	v := stackView{Words: seriesWords(some)}
	x := 0.0
	for _, s := range some {
		width := 100 * float64(s.Total) / float64(total)
		v.Parts = append(v.Parts, partView{Class: s.Class, X: ofWidth(x), Width: ofWidth(width)})
		x += width
	}
	return v
}

// share writes a part of a whole: 37 %, and what is little or nearly all as
// that.
func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case part > 0 && p < 1:
		return "under 1 %"
	case part < whole && p > 99:
		return "over 99 %"
	}
	return strconv.Itoa(int(p+0.5)) + " %"
}
