package migrations

// For tests that bring files of their own.
var (
	MigrateFiles = migrate
	CheckFiles   = check
)
