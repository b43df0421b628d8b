package ui

import (
	"context"
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
	Auditor  bool // may read the access log
	Pending  int
	Seq      uint64
	Place    string // where the page's stream begins
	Sealed   string // the head: size and root
	Root     string
	Banners  []string // what is wrong with what pages show, in sentences
	Version  string
	Search   string  // what the search box holds
	Keep     []field // filters that a search keeps
	Now      time.Time
	CSS, JS  string
	Icon     string
	Marked   string // the icon while requests wait
	Beat     int    // between signs of life of the stream, in milliseconds
}

func (c *Console) shell(id auth.Identity, title, nav string) shellView {
	status := c.views.Status()
	s := shellView{
		Title: title, Nav: nav, Now: c.now(), Version: c.opt.Version, Banners: append(readOnlyBanner(c.opt.ReadOnly, mayRead(id)), banners(c.opt.Isolation, status)...),
		CSS: c.assets.path("app.css"), JS: c.assets.path("app.js"), Icon: c.assets.path("icon.svg"),
		Marked: c.assets.path("icon-waiting.svg"), Beat: int(c.opt.Heartbeat.Milliseconds()),
	}
	if !mayRead(id) {
		return s
	}
	s.Name, s.Initials, s.Roles = visible.String(id.Name), initials(id.Name), strings.Join(id.Roles, ", ")
	s.Auditor = id.Can(auth.Audit)
	s.Pending, s.Seq = c.pendingFor(id), status.Records
	s.Sealed, s.Root = sealed(status.Heads)
	return s
}

// banners are the sentences above every page.
func banners(isolation string, s projections.Status) []string {
	var all []string
	if r := s.Rebuilding; r != nil {
		all = append(all, "The views are being built ("+rebuildingShare(r)+"): what is shown is not complete, or not the newest.")
	}
	if s.Fault != "" {
		shows := "so pages show what was so before"
		if s.Records == 0 {
			shows = "and know nothing of the log"
		}
		all = append(all, "The views stand still, "+shows+": "+visible.String(s.Fault))
	}
	switch isolation {
	case "none":
		all = append(all, "Tools are not shut off from this program (isolation: none): what they run could reach its files.")
	case "unavailable":
		all = append(all, "This machine cannot shut tools off, so tools that start a process do not run. agentd doctor says what is missing.")
	}
	return all
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
		return group(n) + " records", string(heads[0].Root)
	default:
		return group(n) + " records in " + strconv.Itoa(len(heads)) + " partitions", ""
	}
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
