package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Row is one line of the report.
type Row struct {
	What  string
	Ours  string
	Limit string // the physical limit in the same run; "" where there is none
	Ratio string // ours to the limit
	Tail  string // the same of p99
	Goal  string // "" where none is set
	Met   bool
	CPU   time.Duration // for each event; 0 where it was not measured
	Note  string
}

// verdict says whether the goal is met.
func (r Row) verdict() string {
	switch {
	case r.Goal == "":
		return ""
	case r.Met:
		return "met"
	default:
		return "not met"
	}
}

func (r Row) cpu() string {
	if r.CPU == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(r.CPU.Nanoseconds())/1e3)
}

// write prints rows as a table, and below it what is to be said of them.
func write(out io.Writer, rows []Row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tours\tlimit\tratio\tp99 ratio\tgoal\t\tCPU µs/event")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.What, r.Ours, r.Limit, r.Ratio, r.Tail, r.Goal, r.verdict(), r.cpu())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Note != "" {
			fmt.Fprintf(out, "  %s: %s\n", r.What, r.Note)
		}
	}
	_, err := fmt.Fprintln(out)
	return err
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1e3) }

func times(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }
