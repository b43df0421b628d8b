package events_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

// A golden file is the promise that an event, once released, is minted in the
// same bytes and readable for ever. With WRITE_GOLDEN=1 the test writes the
// files that are missing. It never writes over one: bytes that changed need a
// new version of the type, and its own file.
func goldenFile(t *testing.T, name string, made []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) && os.Getenv("WRITE_GOLDEN") == "1" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, made, 0o644))
		return made
	}
	require.NoError(t, err, "a type without a golden file: run the test with WRITE_GOLDEN=1 and read what it wrote")
	return b
}

func TestGoldenEvents(t *testing.T) {
	for _, typ := range events.AllTypes() {
		for version := 1; version <= typ.Version(); version++ {
			name := fmt.Sprintf("%s.%d", typ, version)
			t.Run(name, func(t *testing.T) {
				minted := mintSampleOf(t, typ, version)
				golden := goldenFile(t, name+".json", minted.Envelope)
				require.Equal(t, string(golden), string(minted.Envelope), "the bytes of a version changed")
				require.Equal(t, eventstest.SampleOf(typ, version).Data, eventstest.Validate(t, golden))
			})
		}
	}
}

func TestGoldenEnvelope(t *testing.T) {
	env, err := events.DecodeEnvelope(goldenFile(t, "tool_started.1.json", nil))
	require.NoError(t, err)
	require.NotEmpty(t, env.Data)
	env.Data = nil
	require.Equal(t, events.Envelope{
		SpecVersion: "1.0", ID: "0195f3a0-0000-7000-8000-000000000006", Source: "agentd/node-1/boot-1", Type: "tool_started",
		Subject: "batch-1/1", Time: events.At(eventstest.Now()), DataSchema: "/schemas/tool_started/1", SessionID: "session-1",
		PartitionKey: "session-1", Sequence: "0", CausationID: "0195f3a0-0000-7000-8000-0000000000c0", Critical: true,
		TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}, env)
	require.Equal(t, 1, env.Version())
}

// The subject is for people and tools that know CloudEvents alone.
func TestGoldenSubjects(t *testing.T) {
	const call, request, run = "batch-1/1", "3f0c1f6e-6a0e-4c39-9d53-0d8f2b1c7a11", "run-1"
	want := map[events.Type]string{
		"tool_call": call, "approval_request": call, "tool_started": call, "tool_result": call, "subagent_started": call,
		"subagent_finished": call, "revision": request, "decision": request, "revocation": request, "run_started": run,
		"run_cancelled": run, "run_finished": run, "definition": string(events.DigestOf([]byte("policy"))),
	}
	for _, typ := range events.AllTypes() {
		env, err := events.DecodeEnvelope(mintSample(t, typ).Envelope)
		require.NoError(t, err)
		require.Equal(t, want[typ], env.Subject, typ)
	}
}

func TestGoldenRecord(t *testing.T) {
	record := events.Record{
		Partition: 7, Offset: 1<<40 + 5, LogTime: 1796040180123456, KeyID: "node-1", Signature: []byte{0xca, 0xfe},
		Envelope: []byte(`{"specversion":"1.0"}`),
	}
	blob, err := events.EncodeRecord(record)
	require.NoError(t, err)

	// By hand: version, partition, offset, log time, then each part after its
	// length.
	byHand := "01" + "00000007" + "0000010000000005" + "0006617d30f04740" +
		"0006" + hex.EncodeToString([]byte("node-1")) + "0002" + "cafe" +
		"00000015" + hex.EncodeToString([]byte(`{"specversion":"1.0"}`))
	require.Equal(t, byHand, hex.EncodeToString(blob))

	// RFC 6962, section 2.1: a leaf's hash is over a zero byte and the leaf.
	leaf := sha256.Sum256(append([]byte{0}, blob...))
	require.Equal(t, tlog.Hash(leaf), tlog.RecordHash(blob))
	made := byHand + "\n" + hex.EncodeToString(leaf[:]) + "\n"
	golden := string(goldenFile(t, "record.1.hex", []byte(made)))
	require.Equal(t, golden, made)

	stored, err := hex.DecodeString(strings.SplitN(golden, "\n", 2)[0])
	require.NoError(t, err)
	got, err := events.DecodeRecord(stored)
	require.NoError(t, err)
	require.Equal(t, record, got)
}

func TestGoldenCommitment(t *testing.T) {
	var salt [32]byte
	for i := range salt {
		salt[i] = byte(i)
	}
	byHand := "countersign/payload/1\n" +
		"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f" +
		"\x00\x00\x00\x00\x00\x00\x00\x0c" + `{"path":"a"}`
	sum := sha256.Sum256([]byte(byHand))
	want := hex.EncodeToString(sum[:])
	require.Equal(t, want, events.Commitment(salt, []byte(`{"path":"a"}`)))
	require.Equal(t, want+"\n", string(goldenFile(t, "commitment.1.hex", []byte(want+"\n"))))
}

func TestGoldenWhole(t *testing.T) {
	var salt [32]byte
	whole := sha256.Sum256([]byte("the whole"))
	sum := sha256.Sum256([]byte("countersign/whole/1\n" + string(salt[:]) + string(whole[:])))
	want := &events.Whole{Bytes: 9, Commitment: hex.EncodeToString(sum[:])}
	require.Equal(t, want, events.NewWhole(salt, 9, events.DigestOf([]byte("the whole"))))
	require.Equal(t, want.Commitment+"\n", string(goldenFile(t, "whole.1.hex", []byte(want.Commitment+"\n"))))
}
