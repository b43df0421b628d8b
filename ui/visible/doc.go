// Package visible makes text of others fit to be looked at: every byte of it
// is seen as what it is, and none of it acts.
//
// A text becomes Spans. A span is either ordinary text, which holds no control,
// direction, zero-width or other invisible code point, or the visible name of
// one, such as U+202E, marked as such. So a reader can tell the six characters
// "U+202E" in a text from the code point, the whole can be turned back into its
// bytes (Bytes), and what a browser lays out is what is there.
//
//	t := visible.Show(arguments, 32<<10, 8<<10) // head and tail of a long text
//	t.Hidden                                    // code points that a reader would not see
//	visible.String(name)                        // for titles and logs, in one line
//
// Shown as ordinary are letters, marks, numbers, punctuation, symbols, space,
// line feed and tab, and no others. A run of white space that is long enough to
// push what follows it out of sight is shown as its length, with the number of
// the line that follows; it too can be turned back into its bytes. A line that
// was cut ends with how much is left out.
package visible
