// Package diff compares two result sets, A and B, from records alone.
//
// A comparison is made in steps:
//
//  1. Open reads a set: its plan as plain data, what it ran on, its cells.
//  2. Compare lists what differs between the two beside the figures (Differences), because whoever compares figures must
//     know: the plan by path, the machine, the programs.
//  3. It matches cells by stage, scenario, target and matrix values, and lists those of one side alone, with the reason.
//  4. It looks whether matched cells measured the same thing (Mismatches): their windows, their loads, what their scenario
//     does, how metrics are defined. Figures of different definitions say nothing beside each other; the caller refuses them.
//  5. Each metric of each matched cell becomes a Row: both values, the ratio B/A with its range and noise, and whether B is
//     better, worse, within the noise, unknown or n/a. What got worse stands first.
//  6. Document, WriteJSON and WriteCSV give it a form.
package diff
