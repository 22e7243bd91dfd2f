package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/problem"
)

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("k", maxKeyLen)
	for name, tt := range map[string]struct {
		lines []string
		want  string
		code  problem.Code
	}{
		"Bare":               {[]string{"label:918273:1:v1"}, "label:918273:1:v1", ""},
		"Quoted":             {[]string{`"label:918273:1:v1"`}, "label:918273:1:v1", ""},
		"QuotedEscapes":      {[]string{`"a\"b\\c"`}, `a"b\c`, ""},
		"BareWithMark":       {[]string{`a"b\c`}, `a"b\c`, ""},
		"BareEndsWithMark":   {[]string{`a"`}, `a"`, ""},
		"CaseCounts":         {[]string{"ABC"}, "ABC", ""},
		"Longest":            {[]string{long}, long, ""},
		"LongestQuoted":      {[]string{`"` + long + `"`}, long, ""},
		"Missing":            {nil, "", problem.IdempotencyKeyMissing},
		"Empty":              {[]string{""}, "", problem.IdempotencyKeyInvalid},
		"EmptyQuoted":        {[]string{`""`}, "", problem.IdempotencyKeyInvalid},
		"TooLong":            {[]string{long + "k"}, "", problem.IdempotencyKeyInvalid},
		"TooLongQuoted":      {[]string{`"` + long + `k"`}, "", problem.IdempotencyKeyInvalid},
		"Twice":              {[]string{"k", "k"}, "", problem.IdempotencyKeyInvalid},
		"JoinedByAProxy":     {[]string{"k, k"}, "", problem.IdempotencyKeyInvalid},
		"Space":              {[]string{"a b"}, "", problem.IdempotencyKeyInvalid},
		"SpaceQuoted":        {[]string{`"a b"`}, "", problem.IdempotencyKeyInvalid},
		"Tab":                {[]string{"a\tb"}, "", problem.IdempotencyKeyInvalid},
		"NUL":                {[]string{"a\x00b"}, "", problem.IdempotencyKeyInvalid},
		"NotASCII":           {[]string{"kéy"}, "", problem.IdempotencyKeyInvalid},
		"Delete":             {[]string{"a\x7f"}, "", problem.IdempotencyKeyInvalid},
		"OneMark":            {[]string{`"`}, "", problem.IdempotencyKeyInvalid},
		"Unterminated":       {[]string{`"abc`}, "", problem.IdempotencyKeyInvalid},
		"EscapedEnd":         {[]string{`"abc\"`}, "", problem.IdempotencyKeyInvalid},
		"MarkInside":         {[]string{`"a"b"`}, "", problem.IdempotencyKeyInvalid},
		"OtherEscape":        {[]string{`"a\nb"`}, "", problem.IdempotencyKeyInvalid},
		"Parameters":         {[]string{`"abc";a=1`}, "", problem.IdempotencyKeyInvalid},
		"TwoQuotedInOneLine": {[]string{`"a","b"`}, "", problem.IdempotencyKeyInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for _, line := range tt.lines {
				h.Add("idempotency-key", line)
			}
			got, err := idempotencyKey(h)
			if tt.code == "" {
				require.NoError(t, err)
				require.Equal(t, tt.want, got)
				return
			}
			var refused *refusal
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tt.code, refused.document.Code)
			require.NotEmpty(t, refused.document.Detail)
		})
	}
}

// FuzzIdempotencyKey checks that every accepted key has exactly the two spellings of the contract.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"k", `"k"`, `"a\"b"`, `a"b`, `"`, `""`, "a b", "\x00", `"a\`, strings.Repeat("k", 256)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, err := parseIdempotencyKey([]string{value})
		if err != nil {
			return
		}
		if key == "" || len(key) > maxKeyLen || strings.Trim(key, visible) != "" {
			t.Fatalf("%q gave the key %q", value, key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := parseIdempotencyKey([]string{quoted}); err != nil || again != key {
			t.Fatalf("%s gave %q, %v", quoted, again, err)
		}
		if value != key && value != quoted {
			t.Fatalf("%q and %q are one key", value, key)
		}
	})
}

const visible = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

func TestPreferredWait(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		lines []string
		want  int
		ok    bool
	}{
		"None":              {nil, 0, false},
		"Wait":              {[]string{"wait=10"}, 10, true},
		"Zero":              {[]string{"wait=0"}, 0, true},
		"Quoted":            {[]string{`wait="10"`}, 10, true},
		"OtherCase":         {[]string{"Wait=10"}, 10, true},
		"Spaces":            {[]string{" wait = 10 "}, 10, true},
		"AmongOthers":       {[]string{"respond-async, wait=10"}, 10, true},
		"WithParameter":     {[]string{"wait=10; x=1"}, 10, true},
		"OnAnotherLine":     {[]string{"respond-async", "wait=10"}, 10, true},
		"FirstCounts":       {[]string{"wait=10, wait=20"}, 10, true},
		"Capped":            {[]string{"wait=31"}, 30, true},
		"CappedFarAway":     {[]string{"wait=99999999999999999999"}, 30, true},
		"InQuotes":          {[]string{`x="wait=10, wait=20"`}, 0, false},
		"Negative":          {[]string{"wait=-1"}, 0, false},
		"Fraction":          {[]string{"wait=1.5"}, 0, false},
		"Word":              {[]string{"wait=soon"}, 0, false},
		"Empty":             {[]string{"wait="}, 0, false},
		"NoValue":           {[]string{"wait"}, 0, false},
		"OtherName":         {[]string{"await=10"}, 0, false},
		"UnterminatedQuote": {[]string{`x="a, wait=10`}, 0, false},
		"Nothing":           {[]string{"", ",", ";"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := preferredWait(http.Header{"Prefer": tt.lines})
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.want, got)
		})
	}
}
