package ui_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func TestShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip()
	}
	b, _ := os.ReadFile("/tmp/uishots/serve.log")
	v := map[string]string{}
	for _, l := range strings.Split(string(b), "\n") {
		k, x, _ := strings.Cut(l, " ")
		v[k] = x
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("disable-quic", true), chromedp.ExecPath("/usr/bin/chromium"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	go func() {
		_ = chromedp.Do(ctx, chromedp.Sleep(0))
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			fmt.Fprintln(os.Stderr, "CONSOLE", m.Text, m.URL)
		}
	}()
	shot := func(name, path string, w, h int64, dark bool) {
		scheme := "light"
		if dark {
			scheme = "dark"
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(w, h), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			return err
		}), chromedp.Navigate(v["URL"]+path), chromedp.Sleep(700*time.Millisecond)); err != nil {
			t.Fatal(name, err)
		}
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(name, err)
		}
		os.WriteFile("/tmp/uishots/"+name+".png", png, 0o644)
	}
	shot("signin", "/sign-in?link=x", 1000, 700, false)
	if err := chromedp.Do(ctx, chromedp.Navigate(v["URL"]+"/sign-in"), chromedp.SendKeys("#token", v["BEN"]), chromedp.Submit("#token"), chromedp.Sleep(time.Second)); err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"inbox": "/inbox", "req": "/requests/" + v["REQ"], "req2": "/requests/" + v["REQ2"] + "?change=1", "mod": "/requests/" + v["MOD"], "dec": "/requests/" + v["DEC"],
		"history": "/history", "sessions": "/sessions", "session": "/session?id=prod-release-2026-11-30", "call": "/call?session=prod-release-2026-11-30&batch=b1&index=1", "missing": "/nope"}
	only := os.Getenv("ONLY")
	for n, p := range pages {
		if only != "" && !strings.Contains(only, n) {
			continue
		}
		shot(n+"-light", p, 1400, 900, false)
		shot(n+"-dark", p, 1400, 900, true)
		shot(n+"-360", p, 360, 780, false)
	}
}
