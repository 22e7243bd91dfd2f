package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// mode keeps a report from other users of the machine: it names orders and prices.
const mode = 0o640

// files are the files of a report on their way to their place.
type files struct {
	dir string
	// pending are temporary files that nobody moved yet, in the order in which they will be.
	pending []pendingFile
}

type pendingFile struct {
	name      string
	temporary string
}

// create opens a temporary file that place will name.
func (f *files) create(name string) (*os.File, error) {
	file, err := os.CreateTemp(f.dir, "."+name+".*")
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", name, err)
	}
	f.pending = append(f.pending, pendingFile{name: name, temporary: file.Name()})
	if err := file.Chmod(mode); err != nil {
		return nil, errors.Join(fmt.Errorf("creating %s: %w", name, err), file.Close())
	}
	return file, nil
}

// place moves all files where they belong.
func (f *files) place() error {
	for len(f.pending) > 0 {
		p := f.pending[0]
		if err := os.Rename(p.temporary, filepath.Join(f.dir, p.name)); err != nil {
			return fmt.Errorf("putting %s in its place: %w", p.name, err)
		}
		f.pending = f.pending[1:]
	}
	return nil
}

// abandon removes what was not placed.
func (f *files) abandon() error {
	var all []error
	for _, p := range f.pending {
		if err := os.Remove(p.temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = append(all, fmt.Errorf("cleaning up: %w", err))
		}
	}
	f.pending = nil
	return errors.Join(all...)
}
