// Package migrations makes and checks the database's schema: River's tables first, then ours, from
// the numbered SQL files beside this one, which are part of the binary.
//
// Files are forward only. A file that was released is never edited: what it did is recorded with
// its hash, and a file that no longer matches is refused. It never runs by itself when a service
// starts; a service only checks, and says what to run.
package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
)

//go:embed [0-9]*.sql
var embedded embed.FS

// riverVersion is the River schema that this binary's River needs. Pinned, so that upgrading the
// library does not change tables unasked: raise it together with the library, and look again at
// what 0003 drops from River's tables.
const riverVersion = 8

// file is one numbered SQL file.
type file struct {
	version int
	name    string
	sql     string
	hash    string
}

var fileName = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+\.sql$`)

// load reads every numbered file at the root of files, in the order of their numbers.
func load(files fs.FS) ([]file, error) {
	names, err := fs.Glob(files, "[0-9]*.sql")
	if err != nil {
		return nil, fmt.Errorf("listing migrations: %w", err)
	}
	var loaded []file
	for _, name := range names {
		match := fileName.FindStringSubmatch(name)
		if match == nil {
			return nil, fmt.Errorf("migration %s must be named like 0001_create_parcels.sql", name)
		}
		version, err := strconv.Atoi(match[1])
		if err != nil {
			return nil, fmt.Errorf("reading the number of migration %s: %w", name, err)
		}
		sql, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading migration %s: %w", name, err)
		}
		sum := sha256.Sum256(sql)
		loaded = append(loaded, file{
			version: version,
			name:    name,
			sql:     string(sql),
			hash:    hex.EncodeToString(sum[:]),
		})
	}
	slices.SortFunc(loaded, func(a, b file) int { return a.version - b.version })
	for i := 1; i < len(loaded); i++ {
		if loaded[i].version == loaded[i-1].version {
			return nil, fmt.Errorf("migrations %s and %s have the same number",
				loaded[i-1].name, loaded[i].name)
		}
	}
	return loaded, nil
}

// Fingerprint names the schema that this binary makes: another set of files, or another River
// schema, gives another name.
func Fingerprint() (string, error) {
	loaded, err := load(embedded)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "river %d\n", riverVersion)
	for _, f := range loaded {
		fmt.Fprintf(sum, "%s %s\n", f.name, f.hash)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
