// Package measure makes numbers of what was recorded of a run, and says whether they can be trusted. Everything in it is a
// function of a record.Data, so that a report of a stored run says what the run itself said, and live conditions read a
// run that is still going on.
//
// In order:
//
//  1. Produced lists the names that the runs of a scenario will have, before anything runs; Describe what a name means.
//  2. Derive gives the metrics of every window of a run, and why others have no value; DeriveWindow and DerivePhase
//     those of a part of a run that goes on. All gives the series that the numbers are of.
//  3. Guards says whether a measurement can be trusted, Checks whether the harness itself worked.
//  4. Cells puts the runs of a cell together.
//
// Which requests count where: a request belongs to the phase in which it was due. Rates and latencies are of the headline
// phases, counts of outcomes of all recorded phases and of what lies behind one where the load goes on into the next; in any
// other window both are of that window. Latencies are of successes. A metric whose source was not watching is missing, never
// zero.
//
// How series become numbers: a gauge x gives x_last, x_mean and x_max of its samples in the window. A counter x gives x,
// its growth in the window (between the samples nearest to the window's ends), x_per_s, that by the time between these
// samples, and x_last, its reading. CPU time is read off at the ends of the window by linear interpolation. Names begin
// with the role or the process or other source that a series is of, and with neither where there is only one (the host).
package measure
