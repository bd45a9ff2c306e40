// Package engine runs plans. In order:
//
//  1. Compile binds what is known, lists the cells (stage, target, scenario, matrix values), asks every kind what it
//     produces, and type-checks every expression. A Program is the result.
//  2. Program.Run makes a result set and its journal, does the setup, and runs the schedule: the slots of each round in their
//     order, each on an installation that is there already or is made (session, begun, installation).
//  3. A run does the phases of its scenario: a dispatcher starts each action when it is due; loads are told of the boundaries
//     between phases; probes sample beside it; then everything is undone, last-in-first-out.
//  4. What was recorded is derived into metrics, guards and self-checks (package measure), and kept (package record).
//  5. Conclude judges what is stored, and writes the report. It serves a set whose engine was killed as well.
//
// Actions and probes are seen as task.Action and task.Probe; the engine knows no kind of them.
package engine
