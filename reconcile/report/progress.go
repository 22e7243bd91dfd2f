package report

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// Progress shows how far long work is, to a person who waits at a terminal. Nobody else sees it: a
// log is not made of bars. The zero value shows nothing.
type Progress struct {
	terminal io.Writer
	bar      *progressbar.ProgressBar
}

// NewProgress shows on w if that is a terminal.
func NewProgress(w io.Writer) *Progress {
	if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return &Progress{terminal: w}
	}
	return new(Progress)
}

const (
	// drawEvery is how often a bar is drawn anew: drawing it for each line would be the work.
	drawEvery = 100 * time.Millisecond
	barWidth  = 30
)

// BeginReading ends the step before and begins one of so many bytes, which are counted by Write.
func (p *Progress) BeginReading(step string, bytes int64) {
	p.begin(step, bytes, progressbar.OptionShowBytes(true))
}

// BeginCounting ends the step before and begins one of so many things, which are counted by Add.
func (p *Progress) BeginCounting(step string, things int64) {
	p.begin(step, things, progressbar.OptionShowCount())
}

func (p *Progress) begin(step string, total int64, shown progressbar.Option) {
	p.End()
	if p.terminal == nil || total <= 0 {
		return
	}
	p.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.terminal),
		progressbar.OptionSetDescription(step),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionThrottle(drawEvery),
		progressbar.OptionClearOnFinish(),
		shown,
	)
}

// Add counts things that are done.
func (p *Progress) Add(things int) {
	if p.bar != nil {
		// A bar that is full, or a terminal that has gone, is no reason to stop.
		_ = p.bar.Add(things)
	}
}

// Write counts the bytes that are done. It implements [io.Writer], so that a reader can be teed to it,
// and never fails.
func (p *Progress) Write(done []byte) (int, error) {
	p.Add(len(done))
	return len(done), nil
}

// End takes the bar away.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish() // As in Add.
		p.bar = nil
	}
}
