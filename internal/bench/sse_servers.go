package bench

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/ui"
)

// consoleServer is the console of a house, over TCP.
type consoleServer struct {
	console *ui.Console
	server  *http.Server
	addr    string
	served  chan error
}

func newConsole(ctx context.Context, h *house) (*consoleServer, error) {
	return serveConsole(ctx, ui.Options{
		Views: h.views, Decider: nobody{}, Recorder: recorder{h.cs}, Auth: h.auth, Site: auth.Site{}, MaxStreams: 4 * sseClients,
		Declined: func(name, comment string) string { return name + comment },
	})
}

// serveConsole serves a console, and beside it, at /echo, n bare bytes.
func serveConsole(ctx context.Context, o ui.Options) (*consoleServer, error) {
	console, err := ui.New(o)
	if err != nil {
		return nil, err
	}
	l, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", console.Handler())
	mux.HandleFunc("/echo", bareBytes)
	s := &consoleServer{console: console, addr: l.Addr().String(), served: make(chan error, 1)}
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.served <- s.server.Serve(l) }()
	return s, nil
}

// bareBytes is the least that a server of pages does.
func bareBytes(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("n"))
	if err != nil {
		http.Error(w, "n is not a number", http.StatusBadRequest)
		return
	}
	_, _ = w.Write(make([]byte, n)) // who does not read it, sees that
}

func (s *consoleServer) close() error {
	s.console.Stop()
	err := s.server.Close()
	if last := <-s.served; !errors.Is(last, http.ErrServerClosed) {
		err = errors.Join(err, last)
	}
	return err
}

// nobody decides nothing.
type nobody struct{}

// Decide implements ui.Decider.
func (nobody) Decide(context.Context, ui.Ruling) (ui.Answer, error) {
	return ui.Answer{Reason: "nobody decides in a bench"}, nil
}

// fanOut is the least that a server of streams does.
type fanOut struct {
	listener net.Listener
	conns    []net.Conn
}

func newFanOut(ctx context.Context) (*fanOut, error) {
	l, err := listen(ctx)
	return &fanOut{listener: l}, err
}

func (f *fanOut) addr() string { return f.listener.Addr().String() }

// admit accepts so many connections.
func (f *fanOut) admit(n int) error {
	for range n {
		c, err := f.listener.Accept()
		if err != nil {
			return err
		}
		f.conns = append(f.conns, c)
	}
	return nil
}

func (f *fanOut) write(frame []byte) error {
	for _, c := range f.conns {
		if _, err := c.Write(frame); err != nil {
			return err
		}
	}
	return nil
}

func (f *fanOut) close() error {
	err := f.listener.Close()
	for _, c := range f.conns {
		err = errors.Join(err, c.Close())
	}
	return err
}
