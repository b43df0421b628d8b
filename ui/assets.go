package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
)

//go:embed assets
var embedded embed.FS

// assets are the console's own files, each under a name that holds its digest:
// what a browser has under a name is right for ever.
type assets struct {
	names map[string]string // as pages write it: app.css → app.1f2e3d4c.css
	files map[string][]byte // by the name with the digest
}

func loadAssets() (*assets, error) {
	entries, err := embedded.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	a := &assets{names: map[string]string{}, files: map[string][]byte{}}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := embedded.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, err
		}
		a.add(e.Name(), b)
	}
	script, err := joined("assets/js")
	if err != nil {
		return nil, err
	}
	a.add("app.js", slices.Concat([]byte("\"use strict\";\n(() => {\n"), script, []byte("})();\n")))
	sheet, err := joined("assets/css") // names the fonts: comes last
	if err != nil {
		return nil, err
	}
	for name, hashed := range a.names {
		sheet = bytes.ReplaceAll(sheet, []byte("url("+name+")"), []byte("url("+hashed+")"))
	}
	a.add("app.css", sheet)
	return a, nil
}

// joined is the files of a folder, one after the other in the order of their
// names: one file for the browser, one a subject for us. The scripts share one
// scope.
func joined(folder string) ([]byte, error) {
	entries, err := embedded.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, e := range entries {
		b, err := embedded.ReadFile(folder + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
	return all, nil
}

func (a *assets) add(name string, b []byte) {
	sum := sha256.Sum256(b)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	a.names[name], a.files[hashed] = hashed, b
}

// path is where a page finds a file.
func (a *assets) path(name string) string { return "/assets/" + a.names[name] }

func (c *Console) asset(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	name := r.PathValue("name")
	b, ok := c.assets.files[name]
	if !ok {
		return errNoPage
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if strings.HasSuffix(name, ".woff2") {
		w.Header().Set("Content-Type", "font/woff2")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
	return nil
}
