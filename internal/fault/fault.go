// Package fault holds the points at which tests break the service: die, fail, sleep.
//
// A point stands between two steps and bears the name of the event and of what has just been done,
// or is just about to be. Only a build with the tag faultinject can be broken there: in every other
// build [Point] is an empty function that the compiler inlines away, its arguments included. A test
// holds the release binaries to that.
package fault
