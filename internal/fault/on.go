//go:build faultinject

package fault

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

// Env names the variable that breaks a whole process, as [Parse] reads it.
const Env = "WAYBILL_FAULT"

// ErrInjected is what a point that fails returns.
var ErrInjected = errors.New("injected fault")

// Injector breaks one process, or what a test takes for one. Kill and Pause default to what only a
// process can do to itself; a test in whose process several are played sets its own.
type Injector struct {
	Kill  func() error
	Pause func() error

	// Seen is told of every point that is reached, before anything breaks; may be nil.
	Seen func(point string)

	mu     sync.Mutex
	faults []Fault
	after  bool // the next point fails: what the last one guarded has happened by then
}

// New makes an Injector that carries out each of the faults once.
func New(faults ...Fault) *Injector {
	return &Injector{
		Kill:   func() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) },
		Pause:  func() error { return syscall.Kill(os.Getpid(), syscall.SIGSTOP) },
		faults: faults,
	}
}

type key struct{}

// With returns a context under which points belong to in.
func With(ctx context.Context, in *Injector) context.Context {
	return context.WithValue(ctx, key{}, in)
}

// ofProcess is the injector of points that belong to no other. A fault that cannot be read ends the
// process: a test that breaks nothing would prove nothing.
var ofProcess = sync.OnceValue(func() *Injector {
	faults, err := Parse(os.Getenv(Env))
	if err != nil {
		panic(err)
	}
	return New(faults...)
})

// Point is where a fault may happen. An error says that the step which would follow has failed.
func Point(ctx context.Context, event, step string) error {
	in, ok := ctx.Value(key{}).(*Injector)
	if !ok {
		in = ofProcess()
	}
	return in.at(event + "." + step)
}

func (in *Injector) at(point string) error {
	if in.Seen != nil {
		in.Seen(point)
	}
	f, failed := in.due(point)
	if failed {
		return ErrInjected
	}
	switch f.Action {
	case Kill:
		return in.Kill()
	case Pause:
		return in.Pause()
	case Error:
		return ErrInjected
	case Delay:
		time.Sleep(f.For) //nolint:forbidigo // To be late is all that this does.
	case Panic:
		panic(ErrInjected.Error() + " at " + point)
	case ErrorAfter, none:
	}
	return nil
}

// due counts a hit and returns the fault whose turn it is, if any; failed says that the last point
// asked for this one to fail.
func (in *Injector) due(point string) (due Fault, failed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	failed, in.after = in.after, false
	for i := range in.faults {
		f := &in.faults[i]
		if f.Point != point {
			continue
		}
		if f.Hit--; f.Hit == 0 {
			due = *f
		}
	}
	in.after = due.Action == ErrorAfter
	return due, failed
}
