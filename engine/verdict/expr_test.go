package verdict

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

type row struct {
	time Time
	at   string // stage/scenario/target/matrix
	expr string
	want string // value or outcome, or "! line:col: message" of a compile error
}

const (
	tp    = "throughput/h1-small/ours"
	lat   = "fixed/latency/ours"
	churn = "fixed/churn/ours"
	slow  = "fixed/slowloris/ours"
	hap   = "fixed/churn/haproxy"
	bh    = "fixed/faults/ours/fault=blackhole"
	fleet = "fixed/fleet/nginx/pods=6"
)

var rows = []row{
	// one number type
	{AtJudge, lat, `failed == 0`, "pass"},
	{AtJudge, lat, `p99_ms < 5`, "pass"},
	{AtJudge, lat, `p99_ms >= 5`, "fail"},
	{AtPlan, "", `params.in_flight / 4`, "64"},
	{AtPlan, "", `7 / 2`, "3.5"},
	{AtPlan, "", `7 % 4 + -3`, "0"},
	{AtJudge, lat, `failed <= 0.001 * requests`, "pass"},
	{AtPlan, "", `params.zero == 0 ? 3 : 2.5`, "3"},
	{AtPlan, "", `params.steps[1] + [1, 2.5][0]`, "1001"},
	{AtPlan, "", `params.steps[params.steps.size() - 1]`, "2000"},
	{AtPlan, "", `params.steps[0.5]`, "error"},
	{AtPlan, "", `params.steps.size() == 3 && 500 in params.steps && !(3 in [1, 2])`, "true"},
	{AtPlan, "", `"abcdef".substring(2, 4) + string(1000000) + string(2.5)`, "cd10000002.5"},
	{AtPlan, "", `"abc".indexOf("c") == 2 ? "abc".charAt(1) : "no"`, "b"},
	{AtPlan, "", `"abc".charAt(1.5)`, "error"},
	{AtPlan, "", `[1, 2, 3].exists_one(x, x > 2)`, "true"},
	{AtPlan, "", `[3, 1, 2].map(x, x * 2).min() + max(1, 2.5, 3) + min(4, 5)`, "9"},
	{AtPlan, "", `ms(5) + mib(64) / mib(64) + percent(50)`, "1.505"},
	{AtPlan, "", `floor_to(params.in_flight * 10 / 2, 1000)`, "1000"},
	{AtPlan, "", `9007199254740993`, "! 1:1: 9007199254740993 is too large to be exact"},
	{AtPlan, "", `5u + 1`, "! 1:1: 5u: numbers have no suffix; write 5"},
	{AtPlan, "", `int(5)`, "! 1:1: int() is not offered"},
	{AtPlan, "", `params.name + 1`, "! 1:13: + cannot be applied to (text, number)"},
	{AtJudge, lat, `p99_ms < "5"`, "! 1:8: < cannot be applied to (number, text)"},
	{AtJudge, lat, `p99_ms == "5"`, "! 1:8: == cannot be applied to (number, text)"},
	{AtJudge, lat, `p99_ms <`, "! 1:9: the expression ends too early"},
	{AtJudge, lat, `p99_ms < 5ms`, `! 1:11: unexpected "ms"; metrics carry their unit`},
	{AtPlan, "", `params.zero == 0 ? 3 : "a"`, "! 1:18: ?: cannot be applied to (condition, number, text)"},
	{AtPlan, "", `[1, "a"][0]`, "! 1:5: expected type 'number' but found 'text'"},
	{AtPlan, "", `{"a": 1, "b": 2.5}["b"]`, "2.5"},
	{AtPlan, "", `-params.in_flight + abs(-3) + floor(2.9)`, "-251"},
	{AtJudge, lat, `p99_ms < ms(5)`, "! 1:10: p99_ms is in ms, but ms() gives seconds or bytes; write the number"},
	{AtJudge, bh, `mib(64) > phase("after").sut_rss_mib_max`, "! 1:1: sut_rss_mib_max is in mib"},
	{AtJudge, slow, `phase("attack").seconds < minutes(2)`, "pass"},
	{AtJudge, lat, `targets.measured.all(t, t.name != "" && t.nam != "x")`, `! 1:43: target has no "nam"; did you mean "name"?`},
	{AtJudge, lat, `[scenario("churn"), target("nginx")].all(c, c.p99_ms < 5)`, "pass"},
	{AtJudge, lat, `[scenario("churn"), target("nginx")].all(c, c.changes < 5)`, `! 1:47: scenario "latency" does not produce the metric "changes"`},
	{AtJudge, lat, `p99 < 5 && p50 < scenario("churn").p5_ms`, `! 1:1: unknown name "p99"`},
	// one name, variable and function
	{AtJudge, churn, `scenario == "churn"`, "pass"},
	{AtJudge, churn, `p99_ms <= 1.5 * scenario("latency").p99_clean_ms`, "pass"},
	{AtJudge, churn, `scenario == "churn" && scenario("latency").p99_ms < 5 && target("nginx").p99_ms < 5`, "pass"},
	{AtJudge, hap, `p99_ms <= 1.5 * scenario("latency").p99_clean_ms`, "inconclusive: no data: fixed/latency/haproxy has no run"},
	{AtStage, "", `targets.measured.map(t, stage("throughput").scenario("h1-small").target(t).req_per_s).min()`, "11000"},
	{AtStage, "", `max(100, floor_to(targets.measured.map(t, stage("throughput").scenario("h1-small").target(t).req_per_s).min() / 2, 1000))`, "5000"},
	{AtJudge, "throughput/h1-small/ours", `within(req_per_s, stage("again").req_per_s, percent(60))`, "pass"},
	{AtJudge, "throughput/h1-small/ours", `ratio(target("nginx").req_per_s, req_per_s) >= 1.1`, "fail"},
	{AtJudge, bh, `axis("fault", "latency").phase("before").sut_rss_mib_max + 32 > phase("after").sut_rss_mib_max`, "pass"},
	{AtJudge, bh, `phase("fault").p50_ms > phase("before").p50_ms + 15`, "pass"},
	{AtJudge, bh, `matrix.fault == "blackhole"`, "pass"},
	// names
	{AtJudge, lat, `p9_ms < 5`, `! 1:1: unknown name "p9_ms"; did you mean "p99_ms"?`},
	{AtJudge, lat, `p99_ms < 5 &&` + "\n" + `  scenario("latncy").p99_ms < 5`, `! 2:12: unknown scenario "latncy"; did you mean "latency"?`},
	{AtJudge, lat, `scenario("churn").p99_cleen_ms < 5`, `! 1:19: unknown metric "p99_cleen_ms"; did you mean "p99_clean_ms"?`},
	{AtJudge, churn, `changes > scenario("latency").changes`, `! 1:31: scenario "latency" does not produce the metric "changes"`},
	{AtJudge, lat, `changes > 0`, `! 1:1: scenario "latency" does not produce the metric "changes"`},
	{AtJudge, lat, `stage("throughput").p99_ms < 5`, `! 1:21: no such cell: stage "throughput" does not run scenario "latency"; it runs in fixed`},
	{AtJudge, lat, `scenario("faults").p99_ms < 5`, `! 1:20: no such cell: scenario "faults" has the axis "fault"; add axis("fault", ...)`},
	{AtJudge, bh, `axis("fault", "latncy").p99_ms < 5`, `! 1:15: unknown value of fault "latncy"; did you mean "latency"?`},
	{AtJudge, bh, `axis("falt", "latency").p99_ms < 5`, `! 1:6: unknown axis "falt"; did you mean "fault"?`},
	{AtJudge, bh, `phase("befor").p50_ms < 5`, `! 1:7: scenario "faults" has no phase "befor"; did you mean "before"?`},
	{AtJudge, slow, `phase("attack").series("sut_rs_mib").size() > 1`, `! 1:24: scenario "slowloris" has no series "sut_rs_mib"; did you mean "sut_rss_mib"?`},
	{AtJudge, lat, `events("ooom").size() > 0`, `! 1:8: scenario "latency" has no events of kind "ooom"; did you mean "oom"?`},
	{AtJudge, fleet, `cv(replicas("pod").cpu_cores_meen) > 1`, `! 1:20: replicas of "pod" have no metric "cpu_cores_meen"; did you mean "cpu_cores_mean"?`},
	{AtJudge, lat, `target(target).p99_ms < 5`, `! 1:8: target() wants a name in quotes; names are checked before anything runs`},
	{AtJudge, lat, `rato(p99_ms, 1) > 2`, `! 1:1: unknown function "rato"; did you mean "ratio"?`},
	{AtJudge, lat, `targets.mesured.size() > 0`, `! 1:9: targets has no "mesured"; did you mean "measured"?`},
	{AtJudge, slow, `phase("attack").series("sut_rss_mib").fit().r3 > 0`, `! 1:45: fit has no "r3"`},
	{AtPlan, "", `params.in_fligt / 4`, `! 1:8: unknown param "in_fligt"; did you mean "in_flight"?`},
	{AtStage, "", `stage("throughput").target("nginx").p99_ms`, `! 1:37: no such cell: it does not say which scenario`},
	// scopes
	{AtPlan, "", `p99_ms < 5`, `! 1:1: p99_ms is known only while a run is going on, or when the runs are judged; this is evaluated before the plan starts`},
	{AtPlan, "", `params.rate * 2`, `! 1:8: params.rate is known only when a stage begins`},
	{AtPlan, "", `targets.measured.size()`, `! 1:9: targets.measured is known only when a stage begins, or when the runs are judged`},
	{AtPlan, "", `stage("throughput").scenario("h1-small").target("nginx").req_per_s`, `! 1:1: a cell of the results is known only`},
	{AtRun, lat, `runs.p99_ms.min()`, `! 1:1: runs is known only when the runs are judged; this is evaluated when a run begins`},
	{AtJudge, lat, `dir`, `! 1:1: dir is known only when a run begins, or while a run is going on; this is evaluated when the runs are judged`},
	{AtRun, lat, `params.rate * 2 + (target == "ours" ? 1 : 0)`, "3001"},
	{AtLive, lat, `p99_ms <= 5 && failed == 0`, "true"},
	// lists, series, events
	{AtJudge, "throughput/h1-small/ours", `runs.req_per_s.min()`, "30000"},
	{AtJudge, fleet, `cv(replicas("pod").cpu_cores_mean) > 2.23`, "pass"},
	{AtJudge, slow, `phase("attack").series("sut_rss_mib").after(max(10, phase("attack").seconds / 4)).fit().r2 > 0.9`, "pass"},
	{AtJudge, slow, `phase("attack").series("empty_mib").fit().r2 > 0.9`, "inconclusive: fit() of empty_mib: 0 samples; it needs 3"},
	{AtJudge, slow, `events("oom").size() > 0`, "fail"},
	{AtJudge, slow, `events("exit").size() > 0 && events("exit")[0].at == 12`, "pass"},
	{AtJudge, slow, `events("oom").exists(e, e.at > 5)`, "fail"},
	// safety
	{AtJudge, lat, `nan_ms < 5`, "inconclusive: nan_ms of run 1"},
	{AtJudge, lat, `nan_ms >= 5`, "inconclusive: nan_ms of run 1"},
	{AtJudge, lat, `!(nan_ms >= 5)`, "inconclusive: nan_ms"},
	{AtJudge, lat, `nan_ms != 5`, "inconclusive: nan_ms"},
	{AtJudge, lat, `nan_ms == nan_ms`, "inconclusive: nan_ms"},
	{AtJudge, lat, `nan_ms < 5 || p99_ms < 5`, "inconclusive: nan_ms"},
	{AtJudge, lat, `p99_ms < 5 || nan_ms < 5`, "inconclusive: nan_ms"},
	{AtJudge, lat, `!(p99_ms > 5 && nan_ms > 5)`, "inconclusive: nan_ms"},
	{AtJudge, lat, `p99_ms > 5 && nan_ms > 5`, "fail"}, // a fail whatever nan_ms would be
	{AtJudge, lat, `nan_ms > 5 ? true : true`, "inconclusive: nan_ms"},
	{AtJudge, lat, `p99_ms < 5 ? true : nan_ms > 5`, "pass"}, // the way to write a guard
	{AtJudge, churn, `runs.max_ms.all(x, x < 50)`, "inconclusive: no data: run 2 of fixed/churn/ours has no max_ms"},
	{AtJudge, churn, `max_ms > 1 || true`, "inconclusive: no data: run 2"},
	{AtJudge, lat, `failed / params.zero < 1`, "inconclusive: division by zero"},
	{AtJudge, lat, `!(failed / params.zero > 1)`, "inconclusive: division by zero"},
	{AtJudge, lat, `ratio(p99_ms, failed) > 1`, "inconclusive: ratio to zero"},
	{AtJudge, lat, `1e308 * 10 > p99_ms`, "inconclusive: the product is undefined (+Inf)"},
	{AtJudge, lat, `[].all(x, x > 1)`, "inconclusive: the list is empty"},
	{AtJudge, lat, `!runs.p99_ms.filter(x, x > 99).exists(x, x > 5)`, "inconclusive: the list is empty"},
	{AtJudge, lat, `runs.p99_ms.filter(x, x > 99).max() < 5`, "inconclusive: max() of 0 values; it needs 1"},
	{AtJudge, lat, `cv([5]) < 1`, "inconclusive: cv() of 1 values; it needs 2"},
	{AtJudge, churn, `["nginx", "ours"].size() == 2 && targets.measured.exists(t, scenario("latency").target(t).p99_ms < 5)`, "inconclusive: no data: fixed/latency/haproxy has no run"},
	{AtJudge, churn, `targets.measured.all(t, scenario("latency").target(t).p99_ms > 5)`, "fail"},
	{AtJudge, lat, `runs.p99_ms.exists(x, x / params.zero > 1 || x < 5)`, "inconclusive: division by zero"},
	{AtJudge, lat, `[1, 2, 3].all(x, params.steps.all(y, x < y)) && runs.p99_ms.all(x, x < 5)`, "pass"},
	{AtJudge, lat, `has(params.rate) || true`, "! 1:1: has() is not offered"},
	{AtJudge, lat, `params.?rate.orValue(1) < 5`, "! 1:7: optional values (.?) are not offered"},
	{AtJudge, lat, `params.steps[?0].orValue(1) < 5`, "! 1:13: optional values (.?) are not offered"},
	{AtJudge, lat, `double("NaN") < 1`, "! 1:1: double() is not offered; every number is the same type"},
	// parts of a cell
	{AtJudge, slow, `load("honest").p99_ms`, "6"},
	{AtJudge, slow, `phase("attack").load("honest").p99_ms + load("honest").phase("load").p99_ms`, "11"},
	{AtJudge, slow, `by("web-1") / (by("web-0") + by("web-1") + by("nobody"))`, "0.75"},
	{AtJudge, slow, `load("honest").by("web-1")`, "20"},
	{AtJudge, slow, `load("honest").by("web-7") == 0`, "inconclusive: no data: more different values answered run 1 of fixed/slowloris/ours load honest than are told apart"},
	{AtJudge, slow, `phase("attack").by("web-1") == 0`, "inconclusive: no data: run 1 of fixed/slowloris/ours phase attack counted no answers by who gave them"},
	{AtJudge, slow, `scenario("churn").by("web-1") == 0`, `! 1:19: no load in the headline of scenario "churn" counts by who answered; write by: header(NAME) in a load`},
	{AtLive, slow, `by("web-1") == 0`, `! 1:1: who answered is not known while a run is going on`},
	{AtJudge, slow, `load("honst").p99_ms < 5`, `! 1:6: scenario "slowloris" has no load "honst"; did you mean "honest"?`},
	{AtJudge, slow, `load("honest").req_per_s < 5`, `! 1:16: load "honest" of scenario "slowloris" does not produce the metric "req_per_s"`},
	{AtJudge, slow, `series("sut_rss_mib").size() == 120 && phase("attack").series("sut_rss_mib").first() == 100`, "pass"},
	{AtJudge, slow, `phase("attack").series("sut_rss_mib").before(9).size() + phase("attack").series("sut_rss_mib").seconds()`, "68"},
	{AtJudge, slow, `phase("attack").series("sut_rss_mib").all(x, x < 300) && phase("attack").series("sut_rss_mib").climbs()`, "pass"},
	{AtJudge, slow, `phase("attack").series("empty_mib").climbs()`, "inconclusive: climbs() of empty_mib: 0 samples; it needs 10"},
	{AtJudge, lat, `scenario("slowloris").phase("attack").events("exit").size() == 0`, "pass"},
	{AtJudge, slow, `events("unwatched").size() == 0`, `inconclusive: no data: nothing watched for events "unwatched"`},
	{AtJudge, slow, `events("oom").filter(e, e.at > 5).exists(e, e.at > 6)`, "fail"},
	{AtJudge, slow, `events("exit")[0].process + events("exit")[0].detail`, "nginxstatus 1"},
	{AtJudge, fleet, `replicas("pod").map(p, cv(p.by_worker)).max() > 0.9`, "pass"},
	{AtJudge, fleet, `replicas("pod").map(p, p.cpu_cores_mean).sum()`, "6"},
	{AtJudge, fleet, `replicas("pod").by_worker[2].max()`, "4"},
	{AtJudge, fleet, `replicas("pod").map(p, p.cpu_cores).sum() > 1`, `! 1:26: replicas of "pod" have no metric "cpu_cores"`},
	{AtJudge, fleet, `matrix.pods / 2 + axis("pods", 2).p99_ms`, "7"},
	{AtJudge, fleet, `axis("pods", 3).p99_ms < 5`, `! 1:14: unknown value of pods "3"; known: 2, 6`},
	{AtJudge, tp, `runs.all(r, r.p99_ms < 5 && r.failed == 0)`, "pass"},
	{AtJudge, tp, `target("nginx").runs.p99_ms.max() < 5 && runs.size() > 2`, "pass"},
	{AtJudge, lat, `matrix.fault == "latency"`, "! 1:8: matrix.fault is not one here: no cell has it"},
	{AtJudge, lat, `round == 1`, "inconclusive: round is not one here"},
	// implied stages, missing cells, what only some targets have
	{AtJudge, tp, `p99_ms <= scenario("latency").p99_ms`, "pass"},
	{AtJudge, lat, `p99_ms <= scenario("h1-small").p99_ms`, `! 1:32: no such cell: stage "fixed" does not run scenario "h1-small"; it runs in throughput, again`},
	{AtJudge, lat, `p99_ms <= stage("again").scenario("h1-small").p99_ms`, "pass"},
	{AtJudge, "fixed/latency/nginx", `accepts == 15`, "pass"},
	{AtJudge, lat, `accepts == 15`, "unsupported: fixed/latency/ours has no accepts"},
	{AtJudge, lat, `accepts == 15 || true`, "unsupported: fixed/latency/ours has no accepts"},
	{AtJudge, lat, `accepts == 15 && false`, "fail"},
	{AtJudge, churn, `accepts == 15`, `! 1:1: scenario "churn" does not produce the metric "accepts"`},
	{AtJudge, lat, `scenario("fleet").axis("pods", 2).p99_ms < 5`, "unsupported: fixed/fleet/ours/pods=2 is unsupported: one process only"},
	{AtJudge, hap, `scenario("few").p99_ms < 5`, `! 1:17: no such cell: stage "few" does not run target "haproxy"`},
	{AtJudge, lat, `target("haproxy").scenario("few").p99_ms < 5`, `! 1:35: no such cell: stage "few" does not run target "haproxy"`},
	{AtJudge, lat, `targets.measured.map(t, target(t).scenario("few").p99_ms).max() < 5`, `inconclusive: no such cell: stage "few" does not run target "haproxy"`},
	{AtStage, "", `targets.measured.map(t, stage("fixed").scenario("fleet").axis("pods", 2).target(t).p99_ms).max()`, "error"},
	{AtPlan, "", `targets.map(t, t.name).join(",")`, "nginx,haproxy,ours"},
	{AtJudge, lat, `target("gone").p99_ms < 5`, "unsupported: fixed/latency/gone is unsupported: no program gone"},
	// names of a run
	{AtRun, lat, `dir + "/nginx.conf"`, "/run/x/nginx.conf"},
	{AtRun, lat, `"http://" + backends.web.address + "/" + string(port("http") + 1)`, "http://127.0.0.1:8080/8081"},
	{AtRun, lat, `cpus.sut.size() + host.cpus`, "10"},
	{AtRun, lat, `port("https")`, "error"},
	{AtRun, lat, `port("htp")`, `! 1:6: port() knows no "htp"; did you mean "http"?`},
	{AtRun, lat, `port(1)`, "! 1:1: port cannot be applied to (number)"},
	{AtPlan, "", `port("http")`, "! 1:1: port() is known only when a run begins, or while a run is going on; this is evaluated before the plan starts"},
	{AtRun, lat, `backends.wev.address`, `! 1:10: backends has no "wev"; did you mean "web"?`},
	{AtRun, lat, `backends.web`, `! 1:10: backends.web is not a value; name a part of it`},
	{AtRun, lat, `backends`, `! 1:1: backends is not a value; name a part of it; known: web`},
	{AtJudge, lat, `runs.cv() > 1`, "! 1:6: cv cannot be applied to (runs); it is used as cv(list)"},
	{AtPlan, "", `backends.web.address`, `! 1:14: backends.web.address is known only when a run begins`},
	{AtPlan, "", `params.knobs.window / 2`, "32768"},
	{AtPlan, "", `params.knobs.windw / 2`, `! 1:14: there is no "windw"; did you mean "window"?`},
	{AtLive, lat, `p99_ms < 5 && scenario("churn").p99_ms < 5`, "! 1:15: other cells are not known while a run is going on"},
	{AtLive, slow, `phase("load").p50_ms < 5 && load("honest").failed == 0`, "true"},
	{AtJudge, lat, `p99_ms < 5 and failed == 0`, `! 1:12: unexpected "and"; write &&`},
	{AtJudge, lat, `p99_ms = 5`, `! 1:8: `},
	{AtJudge, lat, `p99.9_ms < 5`, `! 1:4: unexpected`}, // never p99
	{AtJudge, lat, `p99_9_ms < 5`, `! 1:1: unknown name "p99_9_ms"`},
	{AtJudge, lat, ` `, "! 1:1: the expression is empty"},
	{AtJudge, lat, `p99_ms < 5 ` + "// ok", "pass"},
	{AtJudge, lat, `"é" == "é" && p9_ms < 5`, `! 1:15: unknown name "p9_ms"`},
	// coordinates
	{AtSelect, lat, `target == "nginx" || scenario in ["latency", "chrun"]`, `! 1:46: unknown scenario "chrun"; did you mean "churn"?`},
	{AtSelect, lat, `stage != "fixd"`, `! 1:10: unknown stage "fixd"; did you mean "fixed"?`},
	{AtSelect, bh, `matrix.fault == "blackhol"`, `! 1:17: unknown matrix.fault "blackhol"; did you mean "blackhole"?`},
	{AtSelect, fleet, `matrix.pods in [6, 2]`, "true"},
	{AtSelect, lat, `params.rate > 5`, "! 1:8: params.rate is known only when a stage begins"},
	// ratios
	{AtJudge, tp, `ratio(p99_ms, target("nginx").p99_ms)`, "1"},
	{AtJudge, lat, `targets.measured.all(t, ratio(p99_ms, scenario("churn").target(t).p99_ms) < 2)`, "pass"},
	{AtJudge, lat, `ratio(p99_ms, 5) > 1`, "! 1:1: ratio() wants two metrics"},
	{AtJudge, lat, `ratio(p99_ms * 2, p99_ms) > 1`, "! 1:1: ratio() wants two metrics"},
	{AtJudge, lat, `ratio(params.zero, p99_ms) > 1`, "! 1:1: ratio() wants two metrics"},
	{AtJudge, lat, `ratio(p99_ms, target("nginx").p9_ms) > 1`, `! 1:31: unknown metric "p9_ms"`},
	// more that is no value
	{AtPlan, "", `floor_to(5, params.zero)`, "error"},
	{AtPlan, "", `5 % params.zero == 0`, "error"},
	{AtPlan, "", `[1, 2][2] == 0 || true`, "error"}, // a value that absorbed is an error
	{AtJudge, lat, `(nan_ms < 5 || true) ? p99_ms < 5 : false`, "inconclusive: nan_ms"},
	{AtJudge, lat, `[nan_ms, p99_ms].max() > 1`, "inconclusive: nan_ms"},
	{AtJudge, lat, `{"a": nan_ms}["b"] > 1`, "inconclusive: "},
	{AtJudge, lat, `max(nan_ms, p99_ms) > 1`, "inconclusive: nan_ms"},
	{AtJudge, lat, `within(nan_ms, p99_ms, 1)`, "inconclusive: nan_ms"},
	{AtJudge, lat, `1e999 > p99_ms`, "! 1:1: "},
	{AtJudge, lat, `p99_ms > -1e308 * 10`, "inconclusive: the product is undefined (-Inf)"},
	{AtJudge, lat, `[p99_ms].exists_one(x, x > 5)`, "fail"},
	{AtJudge, lat, `events("exit").all(e, e.at > 5) && events("oom").all(e, false) && !events("oom").exists(e, true)`, "pass"},
	{AtJudge, lat, `dyn(p99_ms) < 5`, "! 1:1: dyn() is not offered"},
	{AtJudge, lat, `params.knobs.mode != 5`, "inconclusive: text and a number cannot be compared"},
	{AtJudge, lat, `params.knobs.mode == "fast" && params.knobs.window == 65536`, "pass"},
	{AtJudge, lat, `params.knobs.mode < 5`, "inconclusive: a value is of another type than the expression needs"},
	{AtJudge, lat, `targets.all(t, targets.exists(u, u == t)) && targets[0] != targets[1]`, "pass"},
	{AtJudge, slow, `series("sut_rss_mib") == series("sut_rss_mib")`, "inconclusive: a series cannot be compared"},
	{AtJudge, slow, `events("oom") == []`, "pass"},
	{AtJudge, lat, `[1, 2] == [1, 2] && {"a": 1} != {"a": 2} && true != false`, "pass"},
	{AtJudge, lat, `[nan_ms] != [5]`, "inconclusive: nan_ms"},
	{AtJudge, lat, `null == p99_ms`, "! 1:1: null is no value here"},
	{AtJudge, lat, `b"x" == b"x"`, "! 1:1: bytes are not offered"},
}

// outcome judges a condition as `pass` does.
func (r Result) outcome() string {
	ok, why := r.Holds()
	switch {
	case why != nil:
		return string(outcomeOf(why)) + ": " + why.Text
	case ok:
		return "pass"
	}
	return "fail"
}

func TestExpressions(t *testing.T) {
	c, d := newCompiler(t)
	for _, r := range rows {
		at := coordOf(t, c.ix, r.at)
		p, ps := c.Compile(r.expr, r.time, []Coord{at})
		if ps != nil || strings.HasPrefix(r.want, "!") {
			if got := fmt.Sprint(append(ps, Problem{})[0]); !strings.HasPrefix("! "+got, r.want) {
				t.Errorf("%s\n   got  %v\n   want %s", r.expr, ps, r.want)
			}
			continue
		}
		v := runtimeValues()
		v.At, v.Data = at, d
		if r.time == AtLive {
			v.Data, v.Now = nil, d.Cells[at].Runs[0]
		}
		res := p.Eval(context.Background(), v)
		got := fmt.Sprint(res.Value)
		if f, ok := res.Value.(float64); ok {
			got = number(math.Round(f*1e6) / 1e6)
		} else if res.Err != nil {
			got = "error"
		}
		if p.Type().Kind() == Bool && r.time == AtJudge {
			got = res.outcome()
		}
		if os.Getenv("SHOW") != "" {
			fmt.Printf("%-100s -> %s   {%s} %v\n", r.expr, got, res.Explain(), res.Err)
		}
		if !strings.HasPrefix(got, r.want) || r.want == "" {
			t.Errorf("%s\n   got  %s (%v)\n   want %s", r.expr, got, res.Err, r.want)
		}
	}
}
