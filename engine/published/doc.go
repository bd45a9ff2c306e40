// Package published reads figures that somebody else measured and published, and makes runs of them.
//
// A file of figures is CSV as RFC 4180 has it: UTF-8, commas, a header, a figure a line; lines that begin with # are
// comments, and a byte order mark is passed over.
//
//	scenario,target,metric,statistic,value
//	h1-small,nginx,req_per_s,median,58156
//
// In order:
//
//  1. Read makes Figures of a file: what is wrong with its form, each problem at its line and column.
//  2. Runs holds the figures against what a plan knows, and makes the runs of each cell of them.
//
// The statistic says what the value is of the cell's runs: run1, run2, ... are single runs; median, min, max, sum and mean
// are of all of them. The values of single runs are known
//
//   - where every run has its figure, or there is one run only;
//   - of two runs, from min and max, and of three from min, median and max, though not which run gave which;
//   - where min and max are the same, and where the sum or the maximum of what is never negative is 0.
//
// Of everything else nothing but what was published is known: a Cell's Whole. It has no noise, because nobody can tell it.
//
// A value stands for every number that is printed like it: 1.56 is anything from 1.555 to 1.565. Figures contradict each
// other only where no such numbers exist that would fit.
package published
