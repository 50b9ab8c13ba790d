// Package report writes what was found: packets as lines, trees, hex dumps and
// JSON, loss reports as text, the field table as a reference.
//
// It writes into byte slices and io.Writers that it is given and knows neither
// files nor terminals. docs/output.md describes the JSON forms.
package report
