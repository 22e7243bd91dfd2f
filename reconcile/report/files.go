package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
)

// mode keeps a report from other users of the machine: it names orders and prices.
const mode = 0o640

// files are the files of a report on their way to their place, in the order in which they get there.
type files struct {
	dir     string
	outputs []*output
}

// output is one of them. What is written goes to a temporary file beside its place.
type output struct {
	name   string
	file   *os.File
	buffer *bufio.Writer
	sum    hash.Hash
	bytes  int64
	placed bool
}

// create begins a file that place will name.
func (f *files) create(name string) (*output, error) {
	file, err := os.CreateTemp(f.dir, "."+name+".*")
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", name, err)
	}
	o := &output{name: name, file: file, buffer: bufio.NewWriterSize(file, 1<<16), sum: sha256.New()}
	f.outputs = append(f.outputs, o)
	if err := file.Chmod(mode); err != nil {
		return nil, fmt.Errorf("creating %s: %w", name, err)
	}
	return o, nil
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	_, _ = o.sum.Write(p) // A hash takes everything.
	o.bytes += int64(len(p))
	return o.buffer.Write(p)
}

// close ends the writing, with what was written on the disk.
func (o *output) close() error {
	if err := errors.Join(o.buffer.Flush(), o.file.Sync(), o.file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", o.name, err)
	}
	return nil
}

func (o *output) sha256() string { return hex.EncodeToString(o.sum.Sum(nil)) }

// place moves all files where they belong, and removes what is stale before the last: that is the one
// which says what belongs together.
func (f *files) place(stale []string) error {
	for i, o := range f.outputs {
		if i == len(f.outputs)-1 {
			if err := f.remove(stale); err != nil {
				return err
			}
		}
		if err := os.Rename(o.file.Name(), filepath.Join(f.dir, o.name)); err != nil {
			return fmt.Errorf("putting %s in its place: %w", o.name, err)
		}
		o.placed = true
	}
	return nil
}

func (f *files) remove(names []string) error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing the %s of the report before: %w", name, err)
		}
	}
	return nil
}

// abandon removes what was not placed.
func (f *files) abandon() error {
	var all []error
	for _, o := range f.outputs {
		if o.placed {
			continue
		}
		_ = o.file.Close() // It may be closed already.
		if err := os.Remove(o.file.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = append(all, fmt.Errorf("cleaning up: %w", err))
		}
	}
	f.outputs = nil
	return errors.Join(all...)
}

// table is a CSV file in the making.
type table struct {
	*output
	csv  *csv.Writer
	rows int64
}

// createTable begins a CSV file with its header.
func (f *files) createTable(name string, header []string) (*table, error) {
	o, err := f.create(name)
	if err != nil {
		return nil, err
	}
	t := &table{output: o, csv: csv.NewWriter(o)}
	if err := t.csv.Write(header); err != nil {
		return nil, fmt.Errorf("writing %s: %w", name, err)
	}
	return t, nil
}

// write appends a row.
func (t *table) write(cells []cell) error {
	if err := t.csv.Write(row(cells)); err != nil {
		return fmt.Errorf("writing %s: %w", t.name, err)
	}
	t.rows++
	return nil
}

func (t *table) close() error {
	t.csv.Flush()
	if err := errors.Join(t.csv.Error(), t.output.close()); err != nil {
		return fmt.Errorf("writing %s: %w", t.name, err)
	}
	return nil
}
