package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxLabelBytes bounds names of people, tokens, groups, models and tools: the
// same bound as names in events.
const maxLabelBytes = 256

// parseAddr reads host:port. The host is an IP address, "localhost" or empty.
func parseAddr(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", fmt.Errorf("expected host:port such as 127.0.0.1:8080, found %s", clip(s))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("expected a port from 0 to 65535 after the colon, found %s", clip(s))
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && host != "localhost" {
		return "", fmt.Errorf("expected an IP address or localhost before the port, found %s", clip(s))
	}
	return s, nil
}

// loopback reports whether a parsed addr is reachable from this machine alone.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

// parseOrigin reads scheme://host[:port] and returns it as browsers write it:
// lower case, without the scheme's own port.
func parseOrigin(s string) (string, error) {
	wrong := fmt.Errorf("expected scheme://host[:port] such as https://chat.example.org, found %s", clip(s))
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return "", wrong
	}
	if u.User != nil || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#") {
		return "", wrong
	}
	host := strings.ToLower(u.Host)
	if strings.ContainsAny(host, "*%") || !isASCII(host) || strings.HasSuffix(host, ":") {
		return "", wrong
	}
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
	return u.Scheme + "://" + host, nil
}

// parsePublicURL reads an origin; the session cookie must not travel in clear,
// so plain http is for this machine alone.
func parsePublicURL(s string) (string, error) {
	origin, err := parseOrigin(s)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(origin)
	if err != nil {
		return "", err
	}
	local := u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost") || loopback(net.JoinHostPort(u.Hostname(), "0"))
	if u.Scheme == "http" && !local {
		return "", fmt.Errorf("expected an https URL, because sign-ins travel over it, found %s", clip(s))
	}
	return origin, nil
}

// parseBaseURL reads a provider's URL. Secrets in it would be printed and logged.
func parseBaseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "", fmt.Errorf("expected a URL such as https://api.example.org/v1, found %s", clip(s))
	case u.User != nil, u.RawQuery != "", u.ForceQuery, strings.Contains(s, "#"):
		return "", errors.New("expected a URL without user, query and fragment; put the key into an environment variable and name it in api-key-env")
	}
	return strings.TrimRight(s, "/"), nil
}

// parseDuration reads a Go duration within bounds.
func parseDuration(s string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("expected a duration such as 90s or 3m, found %s", clip(s))
	}
	if d < least || d > most {
		return 0, fmt.Errorf("expected a duration from %s to %s, found %s", short(least), short(most), s)
	}
	return d, nil
}

// short writes a duration without its zero parts: 3m, not 3m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// parseWhole reads a whole number within bounds.
func parseWhole(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("expected a whole number from %d to %d, found %s", least, most, clip(s))
	}
	return n, nil
}

// parseLevel reads a log level by the names that the file uses.
func parseLevel(s string) (slog.Level, error) {
	var level slog.Level
	s, err := parseOneOf(s, "debug", "info", "warn", "error")
	if err == nil {
		err = level.UnmarshalText([]byte(s))
	}
	return level, err
}

// parseOneOf accepts one of the words.
func parseOneOf(s string, words ...string) (string, error) {
	if !slices.Contains(words, s) {
		return "", fmt.Errorf("expected %s, found %s", orList(words), clip(s))
	}
	return s, nil
}

// parsePath makes a path absolute.
func parsePath(s, base string) (string, error) {
	switch {
	case s == "":
		return "", errors.New("expected a path, found nothing")
	case strings.ContainsRune(s, 0):
		return "", fmt.Errorf("expected a path without NUL, found %s", clip(s))
	case filepath.IsAbs(s):
		return filepath.Clean(s), nil
	default:
		return filepath.Join(base, s), nil
	}
}

// parseLabel accepts a name that people will read in the record: visible
// characters only, so that two names that look alike are not two names.
func parseLabel(s string) (string, error) {
	visible := func(r rune) bool { return r == ' ' || (unicode.IsGraphic(r) && !unicode.IsSpace(r)) }
	if s == "" || len(s) > maxLabelBytes || !utf8.ValidString(s) || strings.TrimSpace(s) != s ||
		strings.ContainsFunc(s, func(r rune) bool { return !visible(r) }) {
		return "", fmt.Errorf("expected a name of 1 to %d bytes without control or invisible characters and without spaces around it, found %s", maxLabelBytes, clip(s))
	}
	return s, nil
}

// isWord reports whether s has only ASCII letters, digits, _ and -.
func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// clip quotes what was found, cut to what fits a line.
func clip(s string) string {
	head, dots := cut(s)
	return strconv.Quote(head) + dots
}

// cut returns the beginning of a text, and what stands for the rest.
func cut(s string) (head, dots string) {
	const most = 80
	if len(s) <= most {
		return s, ""
	}
	return s[:most], "..."
}

// oneLine keeps errors of libraries to one line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// parseTruth reads true or false.
func parseTruth(s string) (bool, error) {
	word, err := parseOneOf(s, "true", "false")
	return word == "true", err
}
