package main

// places are a number of places that may be taken at once.
type places chan struct{}

func newPlaces(n int) places { return make(places, n) }

// take takes a place, or tells that none is free.
func (p places) take() bool {
	select {
	case p <- struct{}{}:
		return true
	default:
		return false
	}
}

// leave gives a place back.
func (p places) leave() { <-p }
