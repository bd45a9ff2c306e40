package engine

// Judge is Conclude without the report, which draws some runs and reads these whole.
var Judge = judge
