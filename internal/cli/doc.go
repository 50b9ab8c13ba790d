// Package cli is what the commands have in common: how they end, complain, and
// look at their terminal.
package cli
