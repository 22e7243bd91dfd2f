package simserver

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Kind is what an entry of the ledger did.
type Kind string

// The two kinds of entries.
const (
	Charge Kind = "charge"
	Void   Kind = "void"
)

// Entry is one line of the ledger.
type Entry struct {
	Seq     int64  `json:"seq"`
	Kind    Kind   `json:"kind"`
	LabelID string `json:"label_id"`

	// CarrierKey is the Idempotency-Key that came with the order, in every mode, honoured or not.
	CarrierKey string `json:"carrier_key"`
	Reference  string `json:"reference"`
	TrackingNo string `json:"tracking_no"`

	// AmountCents is what was charged, or given back: never negative, the kind has the sign.
	AmountCents int64     `json:"amount_cents"`
	Currency    string    `json:"currency"`
	At          time.Time `json:"at"`
}

// record is an entry with what the carrier must still know after a restart.
type record struct {
	Entry

	// Order and Digest (of the order's bytes) are set for charges only.
	Order  *order `json:"order,omitzero"`
	Digest string `json:"digest,omitzero"`

	// RemoteID is what the charge is for, of a two-step carrier.
	RemoteID string `json:"remote_id,omitzero"`

	// Dialect is the carrier whose format the order came in, and Told what that must still know.
	Dialect string         `json:"dialect,omitzero"`
	Told    jsontext.Value `json:"told,omitzero"`
}

// ledger is an append-only file of JSON lines and its indexes. Appends that come together share
// one fsync, which is what lets it keep up with thousands of charges a second.
type ledger struct {
	file *os.File
	wake chan struct{}
	done chan struct{}

	mu     sync.Mutex
	seq    int64
	next   *batch
	closed bool
	stop   sync.Once

	// Only what is on disk is in these.
	records     []record
	byLabel     map[string]int
	byKey       map[string]int
	byReference map[string][]int
	byRemoteID  map[string][]int
	voids       map[string]bool
}

// batch is what the next fsync will cover.
type batch struct {
	lines   bytes.Buffer
	records []record
	synced  chan struct{}
	err     error // set before synced is closed
}

func newBatch() *batch { return &batch{synced: make(chan struct{})} }

var errLedgerClosed = errors.New("ledger is closed")

func openLedger(path string, log *zap.Logger) (*ledger, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("making the ledger's folder: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // G304: the operator names it.
	if err != nil {
		return nil, fmt.Errorf("opening ledger: %w", err)
	}
	l := &ledger{
		file:        file,
		wake:        make(chan struct{}, 1),
		done:        make(chan struct{}),
		next:        newBatch(),
		byLabel:     map[string]int{},
		byKey:       map[string]int{},
		byReference: map[string][]int{},
		byRemoteID:  map[string][]int{},
		voids:       map[string]bool{},
	}
	if err := l.readBack(log); err != nil {
		return nil, errors.Join(fmt.Errorf("reading ledger %s: %w", path, err), file.Close())
	}
	go l.flush()
	return l, nil
}

// readBack loads the file. A last line without its end was never answered for: it is cut off. Any
// other damage is an error, since a witness with gaps is none.
func (l *ledger) readBack(log *zap.Logger) error {
	content, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(content, '\n') + 1
	if torn := len(content) - end; torn > 0 {
		log.Warn("cutting off a torn last line of the ledger", zap.Int("bytes", torn))
		if err := l.file.Truncate(int64(end)); err != nil {
			return err
		}
	}
	for line := range bytes.Lines(content[:end]) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("line %d: %w", l.seq+1, err)
		}
		if r.Seq != l.seq+1 {
			return fmt.Errorf("line %d has sequence number %d", l.seq+1, r.Seq)
		}
		l.seq = r.Seq
		l.index(r)
	}
	_, err = l.file.Seek(int64(end), io.SeekStart)
	return err
}

// append gives the record its number, lets name derive what follows from that, and returns once
// the record is on disk.
func (l *ledger) append(r record, name func(*record)) (record, error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return record{}, errLedgerClosed
	}
	l.seq++
	r.Seq = l.seq
	if name != nil {
		name(&r)
	}
	b := l.next
	b.lines.Write(encode(r))
	b.lines.WriteByte('\n')
	b.records = append(b.records, r)
	select {
	case l.wake <- struct{}{}:
	default: // a flush is due anyway
	}
	l.mu.Unlock()

	<-b.synced
	return r, b.err
}

// flush writes batch after batch. After an error nothing more is taken: what the file holds is no
// longer known.
func (l *ledger) flush() {
	defer close(l.done)
	for range l.wake {
		l.mu.Lock()
		b := l.next
		l.next = newBatch()
		l.mu.Unlock()

		b.err = l.write(b.lines.Bytes())

		l.mu.Lock()
		if b.err != nil {
			l.closed = true
			// Whoever queued meanwhile would follow a hole.
			l.next.err = b.err
			close(l.next.synced)
			l.next = newBatch()
		} else {
			for _, r := range b.records {
				l.index(r)
			}
		}
		l.mu.Unlock()
		close(b.synced)
	}
}

func (l *ledger) write(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if _, err := l.file.Write(lines); err != nil {
		return fmt.Errorf("writing ledger: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("syncing ledger: %w", err)
	}
	return nil
}

func (l *ledger) index(r record) {
	at := len(l.records)
	l.records = append(l.records, r)
	if r.Kind == Void {
		l.voids[r.LabelID] = true
		return
	}
	l.byLabel[r.LabelID] = at
	l.byReference[r.Reference] = append(l.byReference[r.Reference], at)
	if r.RemoteID != "" {
		l.byRemoteID[r.RemoteID] = append(l.byRemoteID[r.RemoteID], at)
	}
	if r.CarrierKey != "" {
		l.byKey[r.CarrierKey] = at
	}
}

// close waits for what has queued: its wake-up is still in the channel, or being served.
func (l *ledger) close() error {
	l.mu.Lock()
	l.closed = true
	l.stop.Do(func() { close(l.wake) })
	l.mu.Unlock()
	<-l.done
	return l.file.Close()
}

func (l *ledger) entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := make([]Entry, len(l.records))
	for i, r := range l.records {
		entries[i] = r.Entry
	}
	return entries
}

// chargeByKey returns the charge of a key younger than the window (0: of any age).
func (l *ledger) chargeByKey(key string, now time.Time, window time.Duration) (record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.byKey[key]
	if !ok || (window > 0 && now.Sub(l.records[at].At) >= window) {
		return record{}, false
	}
	return l.records[at], true
}

func (l *ledger) chargeByLabel(id string) (r record, voided, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.byLabel[id]
	if !ok {
		return record{}, false, false
	}
	return l.records[at], l.voids[id], true
}

// chargesByReference returns the charges and which of them are void, oldest first.
func (l *ledger) chargesByReference(reference string) (charges []record, voided []bool) {
	return l.charges(l.byReference, reference)
}

// chargesByRemoteID does the same for what a two-step carrier made.
func (l *ledger) chargesByRemoteID(id string) (charges []record, voided []bool) {
	return l.charges(l.byRemoteID, id)
}

// everyCharge returns the charges of one dialect and which of them are void, oldest first.
func (l *ledger) everyCharge(dialect string) (charges []record, voided []bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		if r.Kind == Charge && r.Dialect == dialect {
			charges = append(charges, r)
			voided = append(voided, l.voids[r.LabelID])
		}
	}
	return charges, voided
}

// statement is all that was charged and given back in one dialect, oldest first.
func (l *ledger) statement(dialect string) (entries []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sold := map[string]bool{}
	for _, r := range l.records {
		if r.Kind == Charge && r.Dialect == dialect {
			sold[r.LabelID] = true
		}
		if sold[r.LabelID] {
			entries = append(entries, r.Entry)
		}
	}
	return entries
}

func (l *ledger) charges(index map[string][]int, name string) (charges []record, voided []bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range index[name] {
		charges = append(charges, l.records[at])
		voided = append(voided, l.voids[l.records[at].LabelID])
	}
	return charges, voided
}
