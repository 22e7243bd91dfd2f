package simserver

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"go.uber.org/zap"
)

// shelf keeps what was made and not bought, of carriers that sell in two steps: they remember it, and so
// must this one when it has been killed. It is a file of JSON lines beside the ledger. It costs
// nobody anything, so it is not flushed: what a crash of the machine takes was free.
type shelf struct {
	mu   sync.Mutex
	file *os.File
}

// shelved is one line of the file.
type shelved struct {
	Dialect string         `json:"dialect"`
	Thing   jsontext.Value `json:"thing"`
}

// openShelf also returns what is on it, oldest first. A torn last line is cut off.
func openShelf(path string, log *zap.Logger) (*shelf, []shelved, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // G304: beside the ledger, which the operator names.
	if err != nil {
		return nil, nil, fmt.Errorf("opening what was prepared: %w", err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("reading what was prepared: %w", err), file.Close())
	}
	end := bytes.LastIndexByte(content, '\n') + 1
	var things []shelved
	for line := range bytes.Lines(content[:end]) {
		var s shelved
		if err := json.Unmarshal(line, &s); err != nil {
			log.Warn("passing over a line of what was prepared", zap.Error(err))
			continue
		}
		things = append(things, s)
	}
	if err := errors.Join(file.Truncate(int64(end)), seek(file, int64(end))); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("reading what was prepared: %w", err), file.Close())
	}
	return &shelf{file: file}, things, nil
}

func seek(file *os.File, to int64) error {
	_, err := file.Seek(to, io.SeekStart)
	return err
}

// keep puts a thing on the shelf. Without it the thing is forgotten at a restart, and no more.
func (s *Server) keep(dialect string, thing any) {
	if err := s.shelf.put(dialect, thing); err != nil {
		s.cfg.Logger.Error("what was prepared is not kept", zap.Error(err))
	}
}

// put keeps a thing of a dialect.
func (s *shelf) put(dialect string, thing any) error {
	line := append(encode(shelved{Dialect: dialect, Thing: encode(thing)}), '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.file.Write(line)
	return err
}

func (s *shelf) close() error { return s.file.Close() }

// restore reads the things of one dialect.
func restore[T any](things []shelved, dialect string, keep func(T)) {
	for _, s := range things {
		var thing T
		if s.Dialect == dialect && json.Unmarshal(s.Thing, &thing) == nil {
			keep(thing)
		}
	}
}
