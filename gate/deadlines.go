package gate

import (
	"container/heap"
	"sync"
	"time"
)

const (
	// tooSoon is how long what is due stays queued while it is being ended.
	tooSoon = 50 * time.Millisecond
	// firstEarly and lastEarly bound the wait, which doubles, after an end that
	// the log found too early: its clock may stand still.
	firstEarly = 20 * time.Millisecond
	lastEarly  = time.Minute
)

// deadlines is the queue of requests that wait for people, by when their time
// runs out on the monotonic clock.
type deadlines struct {
	mu    sync.Mutex
	queue deadlineHeap         // mu
	byID  map[string]*deadline // mu
	moved chan struct{}        // told when the head may have changed
}

type deadline struct {
	at               time.Time
	ends             int64 // the request's own end in log time, in microseconds; 0 where it is over
	session, request string
	early            int // how often the log found it too early
	index            int
}

func newDeadlines() *deadlines {
	return &deadlines{byID: map[string]*deadline{}, moved: make(chan struct{}, 1)}
}

// set queues a request, or moves it.
func (d *deadlines) set(session, request string, at time.Time, ends int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.byID[request]; old != nil {
		old.at, old.ends = at, ends
		heap.Fix(&d.queue, old.index)
	} else {
		e := &deadline{at: at, ends: ends, session: session, request: request}
		d.byID[request] = e
		heap.Push(&d.queue, e)
	}
	d.tell()
}

// later puts off a request that is queued.
func (d *deadlines) later(request string, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.byID[request]; e != nil {
		e.at = at
		heap.Fix(&d.queue, e.index)
		d.tell()
	}
}

// setAll gives all requests the time that is left of them.
func (d *deadlines) setAll(left func(ends int64) time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for _, e := range d.queue {
		e.at = now.Add(max(0, left(e.ends)) + time.Millisecond)
	}
	heap.Init(&d.queue)
	d.tell()
}

// drop takes a request out and reports whether it was queued.
func (d *deadlines) drop(request string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.byID[request]
	if e == nil {
		return false
	}
	delete(d.byID, request)
	heap.Remove(&d.queue, e.index)
	return true
}

// early puts off what the log found too early: for what its clock leaves, and
// the longer the more often that happened.
func (d *deadlines) early(request string, left time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.byID[request]
	if e == nil {
		return
	}
	left = max(left, min(firstEarly<<min(e.early, 16), lastEarly))
	e.early++
	e.at = time.Now().Add(left + time.Millisecond)
	heap.Fix(&d.queue, e.index)
	d.tell()
}

// tell says that the head may have changed. mu is held.
func (d *deadlines) tell() {
	select {
	case d.moved <- struct{}{}:
	default:
	}
}

// session returns the session of a request that is queued, or "".
func (d *deadlines) session(request string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.byID[request]; e != nil {
		return e.session
	}
	return ""
}

// passed returns what is due now, and how long until the next. What is due
// stays queued for a little later, until somebody drops it.
func (d *deadlines) passed(now time.Time) (due []deadline, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) > 0 {
		head := d.queue[0]
		if left := head.at.Sub(now); left > 0 {
			return due, left
		}
		due = append(due, *head)
		head.at = now.Add(tooSoon)
		heap.Fix(&d.queue, 0)
	}
	return due, time.Hour
}

type deadlineHeap []*deadline

// Len implements heap.Interface.
func (h *deadlineHeap) Len() int { return len(*h) }

// Less implements heap.Interface.
func (h *deadlineHeap) Less(i, j int) bool { return (*h)[i].at.Before((*h)[j].at) }

// Swap implements heap.Interface.
func (h *deadlineHeap) Swap(i, j int) {
	q := *h
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (h *deadlineHeap) Push(x any) {
	e := x.(*deadline) //nolint:errcheck,forcetypeassert // only set pushes
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *deadlineHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
