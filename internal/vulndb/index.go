package main

import (
	"cmp"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// advisory is what the index needs to know of a report in OSV's format; the rest is copied unread.
type advisory struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
		Ranges []struct {
			Events []struct {
				Fixed string `json:"fixed"`
			} `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

// vulnRow is a line of index/vulns.json.
type vulnRow struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases,omitempty"`
}

// moduleRow is a line of index/modules.json.
type moduleRow struct {
	Path  string      `json:"path"`
	Vulns []moduleFix `json:"vulns"`
}

// moduleFix says from which version on a module is free of an advisory; empty means never.
type moduleFix struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Fixed    string    `json:"fixed,omitempty"`
}

// index is a database in memory.
type index struct {
	advisories []vulnRow
	modules    map[string][]moduleFix
	modified   time.Time

	// raw holds each report as it was published, by id.
	raw map[string][]byte
}

var errNoAdvisories = errors.New("no advisories")

// readAdvisories reads every report of a folder. An empty folder is an error: a scan against
// nothing finds nothing.
func readAdvisories(dir string) (index, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return index{}, fmt.Errorf("reading %s: %w", dir, cmp.Or(err, errNoAdvisories))
	}
	found := index{modules: map[string][]moduleFix{}, raw: map[string][]byte{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return index{}, fmt.Errorf("reading an advisory: %w", err)
		}
		var a advisory
		if err := json.Unmarshal(text, &a); err != nil {
			return index{}, fmt.Errorf("reading %s: %w", filepath.Base(file), err)
		}
		if want := filepath.Base(file); a.ID+".json" != want {
			return index{}, fmt.Errorf("reading %s: it calls itself %q", want, a.ID)
		}
		found.add(a, text)
	}
	return found, nil
}

func (x *index) add(a advisory, text []byte) {
	x.raw[a.ID] = text
	x.advisories = append(x.advisories, vulnRow{ID: a.ID, Modified: a.Modified, Aliases: a.Aliases})
	if a.Modified.After(x.modified) {
		x.modified = a.Modified
	}
	for path, fixed := range a.fixes() {
		x.modules[path] = append(x.modules[path], moduleFix{ID: a.ID, Modified: a.Modified, Fixed: fixed})
	}
}

// fixes tells, by module, from which version on the advisory no longer applies: the index lets the
// scanner skip a report unread. So where the ranges of one module end differently, it says nothing,
// and the report itself is asked.
func (a advisory) fixes() map[string]string {
	ends := map[string][]string{}
	for _, affected := range a.Affected {
		path := affected.Package.Name
		if len(affected.Ranges) == 0 {
			ends[path] = append(ends[path], "")
		}
		for _, r := range affected.Ranges {
			last := "" // events are in order: after the last fix nothing is affected, unless it opens again
			if n := len(r.Events); n > 0 {
				last = r.Events[n-1].Fixed
			}
			ends[path] = append(ends[path], last)
		}
	}
	fixes := map[string]string{}
	for path, fixed := range ends {
		fixes[path] = ""
		if len(slices.Compact(fixed)) == 1 {
			fixes[path] = fixed[0]
		}
	}
	return fixes
}

// write lays the database down in a folder beside the one it is wanted in, and moves it there.
func (x *index) write(dir string) error {
	fresh, err := os.MkdirTemp(filepath.Dir(dir), ".vulndb-")
	if err != nil {
		return fmt.Errorf("making a folder for the database: %w", err)
	}
	defer func() { _ = os.RemoveAll(fresh) }() // gone already if all went well
	for _, folder := range []string{"ID", "index"} {
		if err := os.Mkdir(filepath.Join(fresh, folder), 0o750); err != nil {
			return fmt.Errorf("making a folder of the database: %w", err)
		}
	}
	for id, text := range x.raw {
		if err := os.WriteFile(filepath.Join(fresh, "ID", id+".json"), text, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", id, err)
		}
	}
	rows := make([]moduleRow, 0, len(x.modules))
	for _, path := range slices.Sorted(maps.Keys(x.modules)) {
		rows = append(rows, moduleRow{Path: path, Vulns: x.modules[path]})
	}
	for name, content := range map[string]any{
		"db":      map[string]time.Time{"modified": x.modified},
		"vulns":   x.advisories,
		"modules": rows,
	} {
		text, err := json.Marshal(content)
		if err != nil {
			return fmt.Errorf("encoding %s.json: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(fresh, "index", name+".json"), text, 0o600); err != nil {
			return fmt.Errorf("writing %s.json: %w", name, err)
		}
	}
	if err := os.Rename(fresh, dir); err != nil {
		return fmt.Errorf("moving the database into its place: %w", err)
	}
	return nil
}
