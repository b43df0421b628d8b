package ui

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// recordView is a record of the log by its place: what is sealed, to the byte.
type recordView struct {
	Place    string
	Type     string
	Facts    []factView
	Hashes   []hashView
	About    string // the path of what it is about; "" where there is no page
	AboutIs  string // "The call", "The request"
	Session  string // the path of its session; "" where it has none
	Envelope argumentsView
	Payloads []payloadView
	Record   string // the path of the whole record's bytes
	// Before and After are the records beside it, for those who may see all.
	Before, After string
}

// payloadView is a text that a record commits to, and does not hold itself.
type payloadView struct {
	Where      string // its member in the envelope
	Bytes      string
	Media      string
	Commitment string
	Said       string // that it is there, or was erased
	Href       string // its bytes; "" where they are gone
}

// placePath is where a record's page is.
func placePath(p events.Position) string {
	return "/at/" + strconv.FormatUint(uint64(p.Partition), 10) + "/" + strconv.FormatUint(p.Offset, 10)
}

// recordFile is the name under which a record's bytes are downloaded, without its
// ending.
func recordFile(p events.Position) string {
	return "record-" + digits(uint64(p.Partition)) + "-" + digits(p.Offset)
}

// recordAt finds the record that a path names, for somebody who may see it.
// What belongs to no session is for auditors.
func (c *Console) recordAt(r *http.Request, id auth.Identity) (projections.Placed, fold.Record, error) {
	var none projections.Placed
	partition, err1 := strconv.ParseUint(r.PathValue("partition"), 10, 32)
	offset, err2 := strconv.ParseUint(r.PathValue("offset"), 10, 63)
	if err1 != nil || err2 != nil {
		return none, fold.Record{}, errNoPage
	}
	thing := "record " + events.Position{Partition: uint32(partition), Offset: offset}.String()
	placed, err := c.views.At(r.Context(), uint32(partition), offset)
	if err != nil {
		return none, fold.Record{}, unseen(id, err, thing)
	}
	record := fold.Decode(placed.Record)
	session := record.Envelope.SessionID
	if session == "" && !id.Can(auth.Audit) {
		return none, record, unseenError{thing: thing}
	}
	if session != "" {
		if err := c.mayReadSession(r.Context(), id, session); err != nil {
			return none, record, unseen(id, err, thing)
		}
	}
	c.note(r.Context(), id, thing, session)
	return placed, record, nil
}

// unseen tells what does not exist from what one may not see only to those who
// see all. thing is how the access log names it.
func unseen(id auth.Identity, err error, thing string) error {
	none := errors.Is(err, projections.ErrNotFound)
	if (none || errors.Is(err, errNotYours)) && !id.Can(auth.Audit) {
		return unseenError{thing, none}
	}
	return err
}

func (c *Console) recordPage(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if _, err := paramsOf(r); err != nil {
		return err
	}
	placed, record, err := c.recordAt(r, id)
	if err != nil {
		return err
	}
	p := placed.Position()
	v := recordView{
		Place: place(p), Type: visible.String(string(record.Envelope.Type)), Facts: recordFacts(placed, record), Hashes: recordHashes(placed, record),
		Envelope: arguments(placed.Envelope, "", placePath(p)+"/envelope"), Payloads: c.payloadsOf(r.Context(), p, record),
		Record: placePath(p) + "/record",
	}
	v.Envelope.Invalid = ""
	v.AboutIs, v.About = c.aboutOf(r.Context(), record)
	if record.Envelope.SessionID != "" {
		v.Session = sessionPath(record.Envelope.SessionID)
	}
	if id.Can(auth.Audit) {
		v.Before, v.After = neighbours(placed)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Record "+place(p), "/history"), recordAtPage(v))
}

// neighbours are the paths of the records before and after one in its partition.
func neighbours(p projections.Placed) (before, after string) {
	at := p.Position()
	if at.Offset > 0 {
		before = placePath(events.Position{Partition: at.Partition, Offset: at.Offset - 1})
	}
	if at.Offset+1 < p.Head.Size {
		after = placePath(events.Position{Partition: at.Partition, Offset: at.Offset + 1})
	}
	return before, after
}

// recordFacts are what is known of a record besides its envelope.
func recordFacts(p projections.Placed, r fold.Record) []factView {
	read := "yes"
	if r.Err != nil {
		read = visible.String(r.Err.Error())
	}
	return []factView{
		{Name: "Log time", Value: clockDate(at(r.Position)) + " UTC", Time: at(r.Position)},
		{Name: "Place", Value: "partition " + digits(uint64(p.Partition)) + ", offset " + group(p.Offset)},
		{Name: "Session", Spans: visible.Line(r.Envelope.SessionID, 80), Href: sessionHref(r.Envelope.SessionID)},
		{Name: "Written by", Spans: visible.Line(r.Envelope.Source, 120)},
		{Name: "This build can read it", Value: read},
		{Name: "Signature", Value: signatureWords(p.Record)},
	}
}

// hashView is a hash, and what of.
type hashView struct {
	Of   string
	Hash events.Digest
}

// recordHashes are what ties a record to its place.
func recordHashes(p projections.Placed, r fold.Record) []hashView {
	return []hashView{
		{"SHA-256 of the envelope, by which other records name it", r.Digest},
		{"Leaf " + group(p.Offset) + " of the tree of its partition (RFC 6962), over the record", p.Leaf},
		{"Root of the tree over all " + group(p.Head.Size) + " records of the partition, as of now", p.Head.Root},
	}
}

func sessionHref(session string) string {
	if session == "" {
		return ""
	}
	return sessionPath(session)
}

func signatureWords(r events.Record) string {
	if len(r.Signature) == 0 {
		return "none: this log has one writer, on this machine"
	}
	return "by key " + visible.String(r.KeyID)
}

// aboutOf says which page shows what a record is about; none where the session
// has no such thing.
func (c *Console) aboutOf(ctx context.Context, r fold.Record) (label, path string) {
	switch e := r.Event.(type) {
	case *events.ToolCall:
		return c.aboutCall(ctx, r, e.CallKey)
	case *events.ToolStarted:
		return c.aboutCall(ctx, r, e.CallKey)
	case *events.ToolResult:
		return c.aboutCall(ctx, r, e.CallKey)
	case *events.ApprovalRequest:
		return c.aboutRequest(ctx, e.RequestID)
	case *events.Decision:
		return c.aboutRequest(ctx, e.RequestID)
	case *events.Revision:
		return c.aboutRequest(ctx, e.RequestID)
	case *events.Revocation:
		return c.aboutRequest(ctx, e.RequestID)
	default:
		return "", ""
	}
}

func (c *Console) aboutCall(ctx context.Context, r fold.Record, key events.CallKey) (label, path string) {
	if _, err := c.views.Call(ctx, r.Envelope.SessionID, key); err != nil {
		return "", ""
	}
	return "The call", callPath(r.Envelope.SessionID, key)
}

func (c *Console) aboutRequest(ctx context.Context, id string) (label, path string) {
	if _, err := c.views.Request(ctx, id); err != nil {
		return "", ""
	}
	return "The request", requestPath(id)
}
