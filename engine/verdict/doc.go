// Package verdict is the expression language of plans and what judges their runs.
//
// # The language
//
// Expressions are CEL (https://cel.dev) with these differences:
//
//   - There is one number type. Literals, params and metrics are numbers; `failed == 0`, `p99_ms < 5` and `in_flight / 4`
//     mean what they say, and / is real division. int(), double(), duration() are not offered: ms(5), minutes(2) and
//     mib(64) give seconds and bytes.
//   - No value is missing, NaN or infinite. What would be is a Reason instead: it satisfies no comparison, in either
//     direction. has() and optionals are not offered.
//   - && and || evaluate every operand, so that order does not matter. `false && missing` is false, whatever the missing
//     value was. `true || missing` is true, and remembers what it absorbed: a pass must not rest on it.
//   - all, exists and exists_one look at every element, and are undefined over an empty list, which proves nothing; an
//     empty events(...) is a result: nothing happened.
//   - `a ? b : c` evaluates only the branch taken.
//
// # Names
//
// A bare metric (p99_ms) is of the current cell. stage("x"), scenario("x"), target("x") and axis("name", value) each
// replace one coordinate of the current cell, and chain; a stage is implied where exactly one runs the scenario.
// phase("x"), load("x"), series("x"), events("kind"), replicas("process") and runs are parts of a cell. Names are literals,
// or a loop variable over targets, so that all of them are checked before anything runs: a name that does not exist, or a
// metric that no cell there can have, is a Problem with its place. A metric that this target lacks makes a verdict
// unsupported.
//
// Every name belongs to some Times (AtPlan ... AtJudge). One that is not known yet is a Problem that says when it will be.
//
// # Steps
//
//  1. The engine describes the plan in a Schema, and NewCompiler makes the environments.
//  2. Compile parses, rewrites (rewrite.go), type-checks with CEL, and walks the tree with the addresses (walk.go).
//  3. Program.Eval gives a Result: a value or why there is none, its operands, what it read, and which guards failed there.
//  4. NewRules compiles verdicts; Rules.Judge folds Results into Judgements; Rules.Summarize into an exit code.
//
// To add a function, add an entry to one of the fn_ files: its documentation is data and its example is a test.
package verdict
