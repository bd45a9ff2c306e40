// Reads a histogram log with hdr-histogram-js (its directory is the first argument, the log the second), and prints what it
// says of each interval, and of each tag in all.
const fs = require("fs");
const hdr = require(process.argv[2]);
const say = (h) => ({ n: h.totalCount, min: h.minNonZeroValue, max: h.maxValue, mean: h.mean, quantiles: [50, 90, 99, 99.9, 100].map((p) => h.getValueAtPercentile(p)) });
const reader = new hdr.HistogramLogReader(fs.readFileSync(process.argv[3], "utf8"));
const out = { intervals: [], tags: {} };
const totals = {};
for (let h; (h = reader.nextIntervalHistogram()) !== null; ) {
  out.intervals.push({ tag: h.tag, start: h.startTimeStampMsec, end: h.endTimeStampMsec, ...say(h) });
  totals[h.tag] = totals[h.tag] || hdr.build({ lowestDiscernibleValue: 1, highestTrackableValue: 120e9, numberOfSignificantValueDigits: 3 });
  totals[h.tag].add(h);
}
for (const tag in totals) out.tags[tag] = say(totals[tag]);
console.log(JSON.stringify(out));
