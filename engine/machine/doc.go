// Package machine says what this machine is and what it can do for a plan: its description for the result set
// (environment.go), the programs on it (programs.go), what it offers and lacks (offers.go), and whether a CPU layout fits
// it (layout.go). Nothing here changes the machine, but for RaiseFiles, which changes this process.
package machine
