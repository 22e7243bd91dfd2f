package problem_test

import (
	"encoding/json/v2"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/problem"
)

// TestEveryCodeHasAStatusAndATitle reads the constants from the source: one that is in no table would
// panic in front of the first caller who meets it.
func TestEveryCodeHasAStatusAndATitle(t *testing.T) {
	t.Parallel()
	declared := declaredCodes(t)
	require.ElementsMatch(t, declared, problem.Codes())
	titles := map[string]problem.Code{}
	for _, code := range declared {
		d := problem.New(code, "Do this.")
		require.Equal(t, code, d.Code)
		require.Equal(t, "urn:waybill:problem:"+string(code), d.Type)
		require.Regexp(t, `^[a-z_]+$`, string(code))
		require.NotEmpty(t, http.StatusText(d.Status), code)
		require.GreaterOrEqual(t, d.Status, 400, code)
		require.NotEmpty(t, d.Title, code)
		require.Empty(t, titles[d.Title], "%s has the title of another", code)
		titles[d.Title] = code
		require.Equal(t, "Do this.", d.Detail)
	}
}

// declaredCodes are the constants of type Code.
func declaredCodes(t *testing.T) []problem.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	require.NoError(t, err)
	var codes []problem.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
			literal, ok := spec.Values[0].(*ast.BasicLit)
			require.True(t, ok)
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			codes = append(codes, problem.Code(text))
		}
		return true
	})
	require.NotEmpty(t, codes)
	return codes
}

func TestNewPanicsOnACodeOfNoTable(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, `problem: code "made_up" is not in the table`, func() { problem.New("made_up", "") })
}

// TestEncodeGolden pins the bytes: saved documents are replayed for as long as keys are kept, and a
// program of another version must say the same.
func TestEncodeGolden(t *testing.T) {
	t.Parallel()
	whole := problem.New(problem.CarrierRejected, "The carrier said <no> & \"never\".")
	whole.Instance = "r-1"
	whole.IntentID = "01890a5d-ac96-774b-bcce-b302099a8057"
	whole.Errors = []carrier.FieldError{{Pointer: "/ship_to/street1", Detail: "zu lang: straße 😀"}}
	whole.CarrierCode = "E17"
	whole.CarrierMessage = "no such street\u2028"
	for name, tt := range map[string]struct {
		document problem.Document
		want     string
	}{
		"Smallest": {
			problem.New(problem.NotFound, ""),
			`{"type":"urn:waybill:problem:not_found","code":"not_found","title":"Not found","status":404}`,
		},
		"Whole": {
			whole,
			`{"type":"urn:waybill:problem:carrier_rejected","code":"carrier_rejected",` +
				`"title":"The carrier refused the shipment","status":422,"detail":"The carrier said <no> & \"never\".",` +
				`"instance":"r-1","intent_id":"01890a5d-ac96-774b-bcce-b302099a8057",` +
				`"errors":[{"pointer":"/ship_to/street1","detail":"zu lang: straße 😀"}],` +
				`"carrier_code":"E17","carrier_message":"no such street` + "\u2028" + `"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 3 {
				require.Equal(t, tt.want, string(tt.document.Encode()))
			}
		})
	}
}

// FuzzEncode holds that whatever a refusal quotes (a member's name that the caller made up, a
// carrier's words), the document is one JSON object that reads back as it was, and the same each time.
func FuzzEncode(f *testing.F) {
	f.Add("detail", "r-1", "/ship_to", "must be", "E17", "no such street")
	f.Add("\x00\u2028<>&\"\\", "", "/a~1b~0c", "\U0001F600", "\x7f", "\ufeff")
	f.Fuzz(func(t *testing.T, detail, instance, pointer, fault, code, message string) {
		d := problem.New(problem.InvalidRequest, detail)
		d.Instance, d.CarrierCode, d.CarrierMessage = instance, carrier.Sanitise(code), carrier.Sanitise(message)
		d.Errors = []carrier.FieldError{{Pointer: pointer, Detail: fault}}
		for _, text := range []string{detail, instance, pointer, fault} {
			if !utf8.ValidString(text) {
				return // ours are: the decoder refuses other bodies before it quotes from them
			}
		}
		text := d.Encode()
		var again problem.Document
		if err := json.Unmarshal(text, &again, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatal(diff)
		}
		if !slices.Equal(text, again.Encode()) {
			t.Fatalf("%s became %s", text, again.Encode())
		}
	})
}

// TestEncodePanicsOnTextThatIsNone: a document that cannot be written is a fault of ours, and must not
// be saved as an empty answer.
func TestEncodePanicsOnTextThatIsNone(t *testing.T) {
	t.Parallel()
	defer func() {
		require.Contains(t, errors.New(recover().(string)).Error(), "encoding internal")
	}()
	problem.New(problem.Internal, "\xff").Encode()
}
