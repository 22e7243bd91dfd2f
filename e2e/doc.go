// Package e2e proves the service from outside: its tests start the programs as an operator would,
// kill, stop, freeze and restart them under load, and then ask a witness that shares no code with
// them, the carrier's ledger, what was really bought. It holds nothing but tests.
package e2e
