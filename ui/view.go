package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// shellView is what stands around every page.
type shellView struct {
	Title    string
	Nav      string // the item of the rail that is current, by its path
	Name     string // who is signed in; "" nobody
	Initials string
	Roles    string
	Pending  int
	Seq      uint64
	Sealed   string // the head: size and root
	Root     string
	Banner   string
	Version  string
	Now      time.Time
	CSS, JS  string
	Icon     string
}

func (c *Console) shell(id auth.Identity, title, nav string) shellView {
	status := c.views.Status()
	s := shellView{
		Title: title, Nav: nav, Now: c.now(), Version: c.opt.Version, CSS: c.assets.path("app.css"), JS: c.assets.path("app.js"),
		Icon:   c.assets.path("icon.svg"),
		Banner: isolationBanner(c.opt.Isolation),
	}
	if !mayRead(id) {
		return s
	}
	s.Name, s.Initials, s.Roles = visible.String(id.Name), initials(id.Name), strings.Join(id.Roles, ", ")
	s.Pending, s.Seq = status.Pending, status.Records
	s.Sealed, s.Root = sealed(status.Heads)
	return s
}

func isolationBanner(isolation string) string {
	if isolation != "none" {
		return ""
	}
	return "Tools are not shut off from this program (isolation: none): what they run could reach its files."
}

// sealed writes the heads of the log.
func sealed(heads []events.Head) (size, root string) {
	var n uint64
	for _, h := range heads {
		n += h.Size
	}
	switch len(heads) {
	case 0:
		return "nothing yet", ""
	case 1:
		return group(n), string(heads[0].Root)
	default:
		return group(n) + " in " + strconv.Itoa(len(heads)) + " partitions", ""
	}
}

// group writes a number with thousands apart: 48,213.
func group[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bytesOf writes a size.
func bytesOf[T int | int64](n T) string {
	if n == 1 {
		return "1 byte"
	}
	return group(n) + " bytes"
}

// count writes a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return group(n) + " " + many
}

func initials(name string) string {
	var out []rune
	for word := range strings.FieldsSeq(name) {
		r := []rune(visible.String(word))
		if len(out) < 2 {
			out = append(out, r[0])
		}
	}
	return strings.ToUpper(string(out))
}

// at is the time of a place in the log.
func at(p events.Position) time.Time { return time.UnixMicro(p.LogTime).UTC() }

// place names a place in the log: #48213, or #PARTITION:OFFSET.
func place(p events.Position) string {
	if p.Partition == 0 {
		return "#" + strconv.FormatUint(p.Offset, 10)
	}
	return "#" + p.String()
}

// clock writes a time of day, clockDate with its day, both in UTC.
func clock(t time.Time) string     { return t.UTC().Format("15:04:05") }
func clockDate(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }
func stamp(t time.Time) string     { return t.UTC().Format(time.RFC3339Nano) }

// span writes a duration for people: 31 ms, 48s, 2m 11s, 1h 4m.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh %dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd %dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

// left writes what is left until a deadline, as the script does: 2:11.
func left(d time.Duration) string {
	d = max(d, 0)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// names finds the names behind people's ids, once each for a page.
type names struct {
	views *projections.Views
	known map[string]string
}

func (c *Console) names() *names { return &names{views: c.views, known: map[string]string{}} }

func (n *names) of(ctx context.Context, person string) string {
	if name, ok := n.known[person]; ok {
		return name
	}
	name := visible.String(n.views.Name(ctx, person))
	n.known[person] = name
	return name
}

// agentName writes an agent with its path from the run's own.
func agentName(a events.Agent) string {
	name := visible.String(a.Name)
	if a.Path == "" {
		return name
	}
	return name + " / " + visible.String(a.Path)
}
