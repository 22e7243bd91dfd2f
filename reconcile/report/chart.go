package report

import "cmp"

// chartWidth is the width of charts in their own units. Whole numbers keep their bytes the same on
// every machine.
const chartWidth = 1000

// bar is a row of a bar chart. The row's text says the same as the bar, so the bar itself is silent
// for those who listen to the page.
type bar struct {
	Label  string
	Count  string
	Amount string
	// X, W and Zero are where the bar begins, how wide it is and where nothing is, of chartWidth.
	X, W, Zero int
	// Tone is the style of the bar.
	Tone string

	value int64
}

// lay puts bars of one currency on one scale. A bar of any amount at all can be seen.
func lay(bars []bar) []bar {
	var low, high int64
	for _, b := range bars {
		low, high = min(low, b.value), max(high, b.value)
	}
	span := high - low
	for i := range bars {
		b := &bars[i]
		b.Zero = scale(-low, span)
		b.W = scale(max(b.value, -b.value), span)
		if b.value != 0 {
			b.W = max(b.W, chartWidth/200)
		}
		b.X = b.Zero
		if b.value < 0 {
			b.X = max(b.Zero-b.W, 0)
		}
		b.X = min(b.X, chartWidth-b.W)
	}
	return bars
}

// scale is a part of a whole, of chartWidth. Amounts are bounded far below where this overflows, and
// a sum that is not loses a little of its length.
func scale(part, whole int64) int {
	for whole > 1<<52 {
		part, whole = part>>1, whole>>1
	}
	if whole == 0 {
		return 0
	}
	return int(part * chartWidth / whole)
}

// segment is a part of a strip.
type segment struct {
	Label string
	Count string
	Cost  string
	X, W  int
	Tone  string

	value int64
}

// stack puts segments side by side so that they fill the strip. A segment of any size at all can be
// seen; the largest gives way.
func stack(segments []segment) []segment {
	var whole int64
	for _, s := range segments {
		whole += s.value
	}
	left, largest := chartWidth, 0
	for i := range segments {
		s := &segments[i]
		s.W = scale(s.value, whole)
		if s.value > 0 {
			s.W = max(s.W, chartWidth/100)
		}
		left -= s.W
		if cmp.Less(segments[largest].value, s.value) {
			largest = i
		}
	}
	x := 0
	for i := range segments {
		s := &segments[i]
		if i == largest && whole > 0 {
			s.W += left
		}
		s.X = x
		x += s.W
	}
	return segments
}
