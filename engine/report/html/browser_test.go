package html

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/planrun/planrun/engine/report"
)

// What the page says of itself in a browser.
const (
	overflow = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
	colour   = `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector("svg path")).fill`
	sizeless = `Array.from(document.querySelectorAll("svg")).filter((s) => !(s.getBoundingClientRect().width > 5 && s.getBoundingClientRect().height > 5)).length`
	column   = `Array.from(document.querySelectorAll("section table")).map((t) => Array.from(t.tBodies[0].rows).map((r) => r.cells[1].textContent).join(" "))[0] + "; " + document.querySelector("thead th:nth-child(2)").getAttribute("aria-sort")`

	revealed  = `document.querySelectorAll("section").forEach((s) => { s.style.contentVisibility = "visible" })` // laid out, so that it can be measured
	codeHead  = `Array.from(document.querySelectorAll("th.num code")).filter((c) => c.closest("button") && getComputedStyle(c).fontFamily.includes("mono")).map((c) => c.textContent).join(" ")`
	concealed = `document.querySelectorAll("section").forEach((s) => { s.style.contentVisibility = "" })`
	printed   = `(() => { dispatchEvent(new Event("beforeprint")); const rows = Array.from(document.querySelector(".filter").nextElementSibling.querySelectorAll("tbody tr"));
		const n = rows.filter((r) => !r.hidden).length; dispatchEvent(new Event("afterprint")); return n })()`
	foldRank = `value(Array.from(document.querySelectorAll("td")).find((c) => c.querySelector("details.rest"))).rank`
	filters  = `document.querySelectorAll(".filter input").length`
	filtered = `(() => { const i = document.querySelector(".filter input"); i.value = %q; i.dispatchEvent(new Event("input"));
		const shown = Array.from(i.closest("label").nextElementSibling.querySelectorAll("tbody tr")).filter((r) => r.checkVisibility()).length;
		return i.nextElementSibling.textContent + ": " + shown })()`

	sortButton = "thead th:nth-child(2) button"
)

// TestBrowser opens a page in Chromium, with hostile names in it, and with no network: nothing is asked of one, nothing
// complains, tables are sorted by the keyboard, and filtered where they are long, light and dark differ, nothing is wider than the window,
// and it prints.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && path == "" {
			path = p
		}
	}
	if path == "" {
		t.Fatal("there is no chromium on PATH: scripts/install-peers installs it")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	var b bytes.Buffer
	doc := document(`<img src="http://192.0.2.1/x" onerror="alert(1)"> plain name`)
	many := report.Table{Columns: []report.Column{{Title: "of"}, {Title: "p99_ms", Right: true, Code: true}}}
	for i := range 50 {
		many.Rows = append(many.Rows, []report.Text{{{Text: fmt.Sprintf("stage / scenario-%d / target", i)}}, {{Text: fmt.Sprint(i)}}})
	}
	doc.Sections = append(doc.Sections, report.Section{Title: "Many rows", Blocks: []report.Block{many}})
	if err := Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	var mu sync.Mutex
	var asked, said []string
	err := chromedp.Listen(ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			asked = append(asked, ev.Request.URL)
		case *log.EventEntryAdded: // also violations of the policy
			said = append(said, ev.Entry.Text)
		case *runtime.EventConsoleAPICalled:
			said = append(said, string(ev.Type))
		case *runtime.EventExceptionThrown:
			said = append(said, ev.ExceptionDetails.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	_, errNetwork := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	_, errLog := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	if err := errors.Join(errNetwork, errLog); err != nil {
		t.Fatal(err)
	}
	scheme := func(v string) {
		t.Helper()
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	size := func(w, h int64) chromedp.Action[chromedp.Void] { return chromedp.EmulateViewport(w, h) }
	scheme("light")
	if err := chromedp.Do(ctx, size(1280, 900), chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](revealed)); err != nil {
		t.Fatal(err)
	}
	wide, bad, light := ask[int](ctx, t, overflow), ask[int](ctx, t, sizeless), ask[string](ctx, t, colour)
	scheme("dark")
	dark := ask[string](ctx, t, colour)
	columns := []string{ask[string](ctx, t, column)}
	for range 3 {
		if err := chromedp.Do(ctx, chromedp.Focus(sortButton), chromedp.KeyEvent(" ")); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, ask[string](ctx, t, column))
	}
	if got := ask[string](ctx, t, codeHead); got != "p99_ms" {
		t.Errorf("the heads written as code, with a button to sort by, are %q", got)
	}
	if n := ask[int](ctx, t, filters); n != 1 {
		t.Errorf("%d tables can be filtered, of 1 with many rows", n)
	}
	for _, c := range []struct{ words, want string }{{"SCENARIO-4 target", "11 of 50 rows: 11"}, {"", "50 rows: 50"}, {"scenario-4 other", "0 of 50 rows: 0"}} {
		if got := ask[string](ctx, t, fmt.Sprintf(filtered, c.words)); got != c.want {
			t.Errorf("with the words %q the table shows %s, want %s", c.words, got, c.want)
		}
	}
	if n := ask[int](ctx, t, printed); n != 50 {
		t.Errorf("%d of 50 rows are printed, whatever is asked for", n)
	}
	if rank := ask[int](ctx, t, foldRank); rank != 0 {
		t.Error("a number that folds open is not sorted as one")
	}
	if err := chromedp.Do(ctx, size(390, 800)); err != nil {
		t.Fatal(err)
	}
	phone := ask[int](ctx, t, overflow)
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](concealed)); err != nil {
		t.Fatal(err)
	}
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || !strings.HasPrefix(asked[0], "file://") {
		t.Errorf("requests: %q", asked)
	}
	if len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
	if wide > 0 || phone > 0 {
		t.Errorf("the page is wider than its window: by %d of 1280 px, by %d of 390", wide, phone)
	}
	if bad > 0 {
		t.Errorf("%d drawings have no size", bad)
	}
	if light == dark || light == "" {
		t.Errorf("light is %s, dark is %s", light, dark)
	}
	want := []string{"1,000 9 n/a; null", "9 1,000 n/a; ascending", "1,000 9 n/a; descending", "1,000 9 n/a; null"}
	if !slices.Equal(columns, want) {
		t.Errorf("a column, pressed three times, is %q, want %q", columns, want)
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF")) || len(pdf) < 5000 {
		t.Errorf("the print is %d bytes", len(pdf))
	}
}

// ask gives the value of an expression of the page's.
func ask[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}
