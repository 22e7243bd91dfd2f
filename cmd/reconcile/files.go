package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"waybill/reconcile/invoice"
	"waybill/reconcile/report"
	"waybill/reconcile/workbook"
)

// headSize is enough to see a header in.
const headSize = 8 << 10

// inputFile is one invoice file.
type inputFile struct {
	path string
	// name is how outputs call it: without its folder, which differs from machine to machine.
	name    string
	sha256  string
	bytes   int64
	dialect invoice.Dialect

	// refused is set for a file that is not read.
	refused *invoice.FileError

	lines    int64
	rejected int64
	ignored  []string
}

// openFiles finds the files and looks at each, in an order that does not depend on how they were
// named on the command line. No file at all is an error: an empty folder is not a clean invoice.
func openFiles(s settings) ([]*inputFile, error) {
	paths, err := expand(s.files)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, inputError(fmt.Errorf("no *.csv file (nor *.txt, *.xlsx) in %s: fetch the invoices first", strings.Join(s.files, ", ")))
	}
	var files []*inputFile
	for _, path := range paths {
		f := &inputFile{path: path, name: filepath.Base(path)}
		if err := f.look(s.dialect); err != nil && !errors.As(err, &f.refused) {
			return nil, err
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *inputFile) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.sha256, b.sha256))
	})
	for i := 1; i < len(files); i++ {
		a, b := files[i-1], files[i]
		if a.name == b.name && a.sha256 != b.sha256 {
			return nil, usageError(fmt.Errorf("%s and %s bear one name: rename one, findings name files by it",
				a.path, b.path))
		}
	}
	return files, nil
}

// extensions are what carriers call their files, in lower case.
var extensions = []string{".csv", ".txt", ".xlsx"}

// expand replaces folders by the files in them. Naming a file twice is naming it once.
func expand(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() {
			// A file that cannot be looked at is reported when it is opened.
			paths = append(paths, filepath.Clean(arg))
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, inputError(fmt.Errorf("listing %s: %w", arg, err))
		}
		for _, e := range entries {
			if slices.Contains(extensions, strings.ToLower(filepath.Ext(e.Name()))) && !e.IsDir() {
				paths = append(paths, filepath.Join(arg, e.Name()))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// look reads a file once, for its identity and its dialect.
func (f *inputFile) look(forced invoice.Dialect) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if f.bytes, err = io.Copy(sum, file); err != nil {
		return unreadable(err)
	}
	f.sha256 = hex.EncodeToString(sum.Sum(nil))
	if f.dialect = forced; forced != nil {
		return nil
	}
	head, err := headOf(file)
	if err != nil {
		return err
	}
	for _, d := range dialects() {
		if d.Detect(head) {
			f.dialect = d
			return nil
		}
	}
	if len(head) == 0 {
		return &invoice.FileError{Fault: invoice.FileEmpty, Advice: "the file is empty: fetch the invoice again"}
	}
	return &invoice.FileError{
		Fault: invoice.FileUnreadable,
		Advice: "the file is in no format we know: name its format with --format to see what is missing, " +
			"or convert it to the neutral CSV of docs/reconcile.md",
	}
}

// headOf is the start of a file as text, whatever it is written in.
func headOf(file io.ReadSeeker) ([]byte, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, unreadable(err)
	}
	rows, err := workbook.OrText(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	head, err := io.ReadAll(io.LimitReader(rows, headSize))
	if err != nil {
		return nil, unreadable(err)
	}
	return head, nil
}

func (f *inputFile) open() (*os.File, error) {
	// Looked at before it is opened: opening a pipe would wait for its other end.
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, unreadable(err)
	}
	if !info.Mode().IsRegular() {
		return nil, &invoice.FileError{
			Fault: invoice.FileUnreadable, Advice: "it is no regular file: save the invoice to a file first",
		}
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, unreadable(err)
	}
	return file, nil
}

// read gives the file's rows to a sink, and proves that they are those of the file looked at.
func (f *inputFile) read(sink invoice.Sink, progress io.Writer) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	rows, err := workbook.OrText(io.TeeReader(file, io.MultiWriter(sum, progress)))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if err := f.dialect.Read(rows, sink); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.sha256 {
		return &invoice.FileError{
			Fault: invoice.FileUnreadable, Advice: "the file changed while it was read: run again when it is complete",
		}
	}
	return nil
}

// told is what the report says of the file.
func (f *inputFile) told() report.File {
	out := report.File{
		Name: f.name, SHA256: f.sha256, Lines: f.lines, Rejected: f.rejected, Ignored: f.ignored,
	}
	if f.dialect != nil {
		out.Format = f.dialect.Name()
	}
	if f.refused != nil {
		out.Refused = f.refused.Advice
	}
	return out
}

// unreadable says why a file cannot be read, without its path, which outputs must not depend on.
func unreadable(err error) *invoice.FileError {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return &invoice.FileError{Fault: invoice.FileUnreadable, Advice: "the file cannot be read: " + err.Error()}
}
