// Package models holds the provider clients: each turns one agent.Request into
// one agent.Turn.
//
//   - [OpenAI] speaks the chat-completions protocol of OpenAI and of the many
//     servers that imitate it, streamed.
//   - [Scripted] plays a [Script], a YAML file of turns, for demonstrations and
//     tests. It sees the same requests and writes the same messages.
//
// # From bytes to a turn
//
// A response passes four stages, each with files of its own: the event stream's
// framing (sse.go), one chunk of JSON (chunk.go), the pieces of texts (texts.go)
// and tool calls (calls.go), and what the end of the stream means (turn.go,
// finish.go). A turn's message is then written once (message.go) and replayed to
// the byte in later requests (request.go).
//
// # What it promises
//
// Servers differ in ways that do no harm: an id that is empty or missing after
// the first piece, no index, comments, two finish reasons, no [DONE]. These are
// all read, as they were meant.
//
// What could make a tool run that the model did not ask for, or run it with
// other arguments, ends the turn with an *[agent.TurnError] instead, and no tool
// starts: a stream that ends early or was cut at a length limit, an error in
// mid-stream, pieces that belong to no call, JSON that does not parse or names a
// member twice, text that is not Unicode. The turn returned with the error holds
// what had arrived, for the record.
//
// Arguments are the model's own text to the byte. They are not parsed, not
// repaired and not completed here, and no number passes through a float.
//
// # Bounds
//
// A line, an event and the text of a turn may each have 32 MiB; a turn may have
// 1,000 calls. Beyond is [agent.CodeLimit], never a shorter success.
package models
