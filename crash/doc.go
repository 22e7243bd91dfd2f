// Package crash holds no code, only the tests that break the life of an intent at every fault point
// there is: by death, error, lost answer and sleep, once and twice, for every class of carrier. They
// are built with the tag faultinject: `make crash` runs all of them, `make test` those that are
// quick. docs/reliability.md tells what they found.
package crash
