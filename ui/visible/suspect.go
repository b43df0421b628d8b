package visible

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Note is something about a name that a reader should know.
type Note struct {
	Name    string // the name or host it is about
	Text    string
	Warning bool // it may be made to look like another; else it is only good to know
}

// NameNotes says what is odd about a name that stands for a thing of ours, such
// as a tool's: such names are plain ASCII.
func NameNotes(name string) []Note {
	switch {
	case ascii(name):
		return nil
	case report(bare([]byte(name))).Hidden > 0:
		return []Note{{name, "This name holds characters that cannot be seen.", true}}
	case norm.NFKC.String(name) != name:
		return []Note{{name, fmt.Sprintf("This name looks like %q and is another.", norm.NFKC.String(name)), true}}
	case len(scripts(name)) > 1:
		return []Note{{name, "This name mixes letters of " + strings.Join(scripts(name), " and ") + "; it may look like another.", true}}
	default:
		return []Note{{name, "This name has letters beyond ASCII.", true}}
	}
}

// host finds what stands where a URL has its host.
var host = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*:/{2,}(?:[^\s/?#"'\\<>@]*@)?([^\s/?#"'\\<>:@]+)`)

// maxHosts bounds the notes of one text.
const maxHosts = 20

// HostNotes says what is odd about hosts of URLs in a text.
func HostNotes(text []byte) []Note {
	var notes []Note
	seen := map[string]bool{}
	for _, m := range host.FindAllSubmatch(text, 200) {
		h := string(m[1])
		if seen[h] || len(notes) >= maxHosts {
			continue
		}
		seen[h] = true
		if n, ok := hostNote(h); ok {
			notes = append(notes, n)
		}
	}
	return notes
}

func hostNote(h string) (Note, bool) {
	if ascii(h) && !strings.Contains(strings.ToLower(h), "xn--") {
		return Note{}, false
	}
	plain, err1 := idna.ToUnicode(h)
	coded, err2 := idna.ToASCII(norm.NFKC.String(h))
	if err1 != nil || err2 != nil {
		return Note{h, "This host is not a valid name.", true}, true
	}
	for label := range strings.SplitSeq(plain, ".") {
		if mixed := scripts(label); len(mixed) > 1 {
			return Note{h, "This host mixes letters of " + strings.Join(mixed, " and ") + ". It is " + String(coded) + ".", true}, true
		}
	}
	if ascii(h) {
		return Note{h, "This host is written in code. It reads " + String(plain) + ".", true}, true
	}
	if report(bare([]byte(h))).Hidden > 0 {
		return Note{h, "This host holds characters that cannot be seen.", true}, true
	}
	return Note{h, "This host is " + String(coded) + ".", false}, true
}

// scripts returns the scripts of the letters of a name, in order. Han with kana
// or bopomofo is how Japanese and Chinese are written, and counts as one.
func scripts(s string) []string {
	var found []string
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		name := scriptOf(r)
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

func scriptOf(r rune) string {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul) {
		return "East Asian scripts"
	}
	for _, s := range []struct {
		name  string
		table *unicode.RangeTable
	}{
		{"Latin", unicode.Latin},
		{"Cyrillic", unicode.Cyrillic},
		{"Greek", unicode.Greek},
		{"Armenian", unicode.Armenian},
		{"Hebrew", unicode.Hebrew},
		{"Arabic", unicode.Arabic},
		{"Cherokee", unicode.Cherokee},
	} {
		if unicode.Is(s.table, r) {
			return s.name
		}
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "no script"
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || r < 0x20 || r == 0x7f })
}
