// Package command is how every command reads its arguments and ends: flags or environment through
// kong, an exit status instead of os.Exit, and nothing global, so that a test can run a whole command.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Version is what --version prints; the build sets it.
var Version = "unknown"

// Exit statuses that all commands share.
const (
	OK    = 0
	Error = 1
	Usage = 2
)

// Process is what a command may use of the world. A cancelled Ctx asks it to stop.
type Process struct {
	Ctx    context.Context //nolint:containedctx // Commands are methods that kong calls with one argument.
	Getenv func(string) string
	Stdout io.Writer
	Stderr io.Writer
	Now    func() time.Time
}

// exit is thrown where kong would end the process, after --help.
type exit int

// Run parses args into cli, a pointer to a kong grammar, runs the chosen command's Run(*Process) and
// returns the exit status. Mistakes go to Stderr, with what to do.
func Run(p *Process, name, description string, cli any, args []string) (code int) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case exit:
			code = int(thrown)
		default:
			panic(thrown)
		}
	}()
	parser, err := newParser(p, name, description, cli)
	if err != nil {
		fmt.Fprintf(p.Stderr, "%s: %v\n", name, err)
		return Error
	}
	chosen, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(p.Stderr, "%s: %v\nSee %s --help: it also names the environment variable of each flag.\n",
			name, err, meant(err, name))
		return Usage
	}
	if err := chosen.Run(p); err != nil {
		fmt.Fprintf(p.Stderr, "%s: %v\n", name, err)
		return Error
	}
	return OK
}

// meant is the command whose arguments were wrong: its own --help describes its flags, and the help of
// the whole program does not.
func meant(err error, name string) string {
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context.Selected() != nil {
		return strings.Join(strings.Fields(parse.Context.Selected().FullPath()), " ")
	}
	return name
}

func newParser(p *Process, name, description string, cli any) (*kong.Kong, error) {
	names := map[*kong.Value][]string{}
	return kong.New(cli,
		kong.Name(name),
		kong.Description(description),
		kong.Vars{"version": Version},
		kong.Embed(&struct {
			Version kong.VersionFlag `help:"Print the version and exit."`
		}{}),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.UsageOnError(),
		takeEnvironment(names),
		kong.Resolvers(environment(names, p.Getenv)),
		kong.ValueFormatter(func(v *kong.Value) string {
			if len(names[v]) == 0 {
				return v.Help
			}
			return fmt.Sprintf("%s ($%s)", v.Help, strings.Join(names[v], ", $"))
		}),
	)
}

// takeEnvironment takes the environment's names away from kong, which would read the real
// environment whatever getenv says.
func takeEnvironment(names map[*kong.Value][]string) kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
			if flag, ok := node.(*kong.Flag); ok {
				names[flag.Value] = flag.Tag.Envs
				flag.Tag.Envs = nil
				flag.Envs = nil
			}
			return next(nil)
		})
	})
}

// environment resolves flags that were not given; an empty variable counts as unset.
func environment(names map[*kong.Value][]string, getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, name := range names[flag.Value] {
			if text := getenv(name); text != "" {
				return text, nil
			}
		}
		return nil, nil //nolint:nilnil // kong's way to say "not set here".
	})
}
