// Package mutants plants bugs to see that the tests find them. A green suite proves little until
// something could have turned it red.
//
// table_test.go lists the bugs: each is a small edit of one file, and the test that must fail with it.
// `make mutants` plants one after the other through `go test -overlay`, so the working copy is never
// touched, and fails if one survives. `make test` only checks that every edit still applies.
package mutants
