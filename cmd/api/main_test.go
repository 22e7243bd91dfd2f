package main

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a test leaves a goroutine behind, or if the contract documents an answer that none of them got.
func TestMain(m *testing.M) { goleak.VerifyTestMain(contractTests{m}) }
