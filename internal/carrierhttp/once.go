package carrierhttp

import "waybill/carrier"

// Once leaves out what is listed again: the pages of a list shift while it is read, and a label that was
// read twice was not bought twice. The first of each id stays where it is.
func Once(labels []carrier.Label) []carrier.Label {
	seen := make(map[string]bool, len(labels))
	once := make([]carrier.Label, 0, len(labels))
	for _, l := range labels {
		if !seen[l.ID] {
			once = append(once, l)
		}
		seen[l.ID] = true
	}
	return once
}
