package simserver

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestRestartForgetsNothing(t *testing.T) {
	t.Parallel()
	b := &testBundle{path: filepath.Join(t.TempDir(), "ledger.jsonl"), now: testStart}
	stop := b.start(t, nil)
	_, kept := b.callRaw(t, "POST", "/labels", orderBody("REF1"), "Idempotency-Key", "k1")
	_, voided := b.buyRef(t, "REF2")
	void := "/labels/" + voided["label_id"].(string) + "/void"
	b.call(t, "POST", void, "")
	before := b.Entries()
	stop()

	b.start(t, nil)

	require.Equal(t, before, b.Entries())
	_, again := b.callRaw(t, "POST", "/labels", orderBody("REF1"), "Idempotency-Key", "k1")
	require.Equal(t, string(kept), string(again))
	_, answer := b.call(t, "POST", void, "")
	require.Equal(t, "already_voided", answer["code"])
	_, found := b.call(t, "GET", "/labels?reference=REF1", "")
	require.Len(t, found["labels"], 1)
	_, label := b.buyRef(t, "REF3")
	require.NotEqual(t, voided["tracking_no"], label["tracking_no"])
	require.EqualValues(t, 4, b.Entries()[3].Seq)
}

func TestOpenLedger(t *testing.T) {
	t.Parallel()
	const first = `{"seq":1,"kind":"charge","label_id":"a","reference":"R","at":"2026-11-30T00:00:00Z","order":{}}` + "\n"
	const second = `{"seq":2,"kind":"void","label_id":"a","reference":"R","at":"2026-11-30T00:00:00Z"}` + "\n"
	for name, tt := range map[string]struct {
		content string
		want    int // entries; -1 for an error
		torn    bool
	}{
		"Empty":         {"", 0, false},
		"Whole":         {first + second, 2, false},
		"TornLine":      {first + second[:20], 1, true},
		"TornEnd":       {first + second[:len(second)-1], 1, true},
		"OnlyTorn":      {first[:9], 0, true},
		"DamagedMiddle": {first[:20] + "\n" + second, -1, false},
		"Gap":           {second, -1, false},
		"Repeated":      {first + first, -1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ledger.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(tt.content), 0o600))
			core, logs := observer.New(zap.WarnLevel)
			l, err := openLedger(path, zap.New(core))
			if tt.want < 0 {
				require.ErrorContains(t, err, path)
				return
			}
			require.NoError(t, err)
			require.Len(t, l.entries(), tt.want)
			require.Equal(t, tt.torn, logs.Len() == 1)

			// What is appended next stands on a line of its own.
			_, err = l.append(record{Entry: Entry{Kind: Void}}, nil)
			require.NoError(t, err)
			require.NoError(t, l.close())
			again, err := openLedger(path, zap.NewNop())
			require.NoError(t, err)
			require.Len(t, again.entries(), tt.want+1)
			require.NoError(t, again.close())
		})
	}
}

func TestLedgerTakesManyAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := openLedger(path, zap.NewNop())
	require.NoError(t, err)
	const n = 500
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			r, err := l.append(record{Entry: Entry{Kind: Void}}, nil)
			if err != nil || l.entries()[r.Seq-1].Seq != r.Seq {
				t.Errorf("entry %d is not where it belongs: %v", r.Seq, err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, l.close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, n, bytes.Count(content, []byte("\n")))
	_, err = l.append(record{}, nil)
	require.ErrorIs(t, err, errLedgerClosed)
}

// TestLedgerStopsAtTheFirstError: after a failed write nobody knows what the file holds.
func TestLedgerStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	l, err := openLedger(filepath.Join(t.TempDir(), "ledger.jsonl"), zap.NewNop())
	require.NoError(t, err)
	require.NoError(t, l.file.Close())
	_, err = l.append(record{}, nil)
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = l.append(record{}, nil)
	require.ErrorIs(t, err, errLedgerClosed)
	require.Empty(t, l.entries())
	require.Error(t, l.close())
}

func BenchmarkCharges(b *testing.B) {
	l, err := openLedger(filepath.Join(b.TempDir(), "ledger.jsonl"), zap.NewNop())
	require.NoError(b, err)
	b.SetParallelism(128)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := l.append(record{Entry: Entry{Kind: Charge}, Order: &order{}}, nameLabel); err != nil {
				b.Error(err)
			}
		}
	})
	require.NoError(b, l.close())
}
