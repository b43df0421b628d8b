// Package auth knows who may come in: people, the tokens that programs and
// people hold, and the console's sessions.
//
//	store, err := auth.Open(ctx, auth.Options{Path: "data/auth.db", Tokens: tokens, LocalAdmin: true})
//	who, err := store.FromRequest(r)       // ErrNoCredentials, ErrBadCredentials
//	if !who.Can(auth.Decide) { ... }       // 403
//
// There are three ways in:
//
//   - A bearer token of the configuration, known by its SHA-256 alone. Where the
//     configuration has none, EnsureAgentToken writes one beside the journal; it
//     has the role agent and so can decide nothing.
//   - A one-time link for the local admin (NewLink, Redeem): ten minutes, one
//     use, whoever is first.
//   - A session cookie, after a link or after SignInWithToken. Sessions survive
//     a restart; they end after twelve hours without use, seven days after the
//     sign-in, at SignOut, and when what they stand on (the token, the local
//     admin) is no longer in the configuration. Roles are the configuration's of
//     now, not those of the sign-in.
//
// What can decide is never on disk: auth.db keeps SHA-256 hashes of secrets of
// 256 random bits, and the one token in clear is an agent's.
//
// A person is known in events by an opaque id, minted once and kept in auth.db;
// the name is beside it. Whoever reads auth.db learns who is who, and can sign in
// as nobody.
//
// Site says where console and API are served. It names the cookie, and its
// Protect lets no request through that a web page of somebody else made: the Host
// must be ours (a rebound DNS name is not), the Origin too, and a browser must
// not call the request cross-site.
package auth
