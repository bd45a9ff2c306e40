package engine_test

import "slices"

// variations has a row for every key of the language.
var variations = slices.Concat(planVariations, actionVariations)

// planVariations has a row for every key that is no action's.
var planVariations = []variation{
	// The plan.
	{keys: "Plan.plan Plan.about", base: nothing, with: "plan: other\nabout: something"},
	{keys: "Plan.version", by: "dsl.TestHostile"},
	{keys: "Plan.include", by: "engine.TestEveryKeyTakesEffect"},
	{keys: "Plan.params Param.value", base: "params: {n: 1}\n" + inScenario("repeats: '${{ params.n }}'"), with: "params: {n: 2}"},
	{keys: "Param.about", base: "params: {n: {value: 1}}", with: "params: {n: {value: 1, about: a number}}", by: "dsl.TestResolvedLoadsAsTheSamePlan"},
	{keys: "Param.env", by: "engine.TestSecrets"},
	{keys: "Param.secret", by: "engine.TestSecrets"},
	{keys: "Plan.presets", by: "engine.TestPresets"},
	{keys: "Plan.host Host.cpus", base: nothing, with: inHost(`cpus: {sut: "0"}`)},
	{keys: "Plan.setup", base: nothing, with: `setup: [{exec: {command: ["false"]}}]`},
	{keys: "Plan.backends", base: nothing, with: "backends: {more: {}}"},
	{keys: "Plan.relays", base: nothing, with: "relays: {more: {of: web}}\n" + inScenario("relays: [more]")},
	{keys: "Plan.targets", base: nothing, with: twoTargets},
	{keys: "Plan.loads", base: nothing, with: "loads: {small: {rate: 50/s}}"},
	{keys: "Plan.scenarios", base: nothing, with: "scenarios: {more: {phases: [{measure: {for: 100ms, do: [{load: small}]}}]}}"},
	{keys: "Plan.schedule Stage.stage", base: nothing, with: "schedule: [{stage: other}]"},
	{keys: "Plan.probes", base: nothing, with: "probes: [backend-connections]"},
	{keys: "Plan.published Scenario.figures", by: "plans.TestShippedPublishedPlans"},
	{keys: "Plan.metrics Metric.of", base: nothing, with: "metrics: {twice: {of: 2 * failed}}"},
	{keys: "Plan.verdicts Verdict.verdict Verdict.pass", base: nothing, with: "verdicts: [{verdict: w, pass: failed > 0}]"},
	{keys: "Plan.report", base: nothing, with: inSection("")},
	{keys: "Plan.fresh", base: inScenario("repeats: 2"), with: "fresh: run"},
	{keys: "Plan.only", base: twoTargets, with: "only: [t]"},
	{keys: "Plan.skip", base: twoTargets, with: "skip: [t]"},

	// The host.
	{keys: "Host.nice", by: "engine.TestNiceAndLimits"},
	{keys: "Host.allow", by: "engine.TestPublicAddresses"},
	{keys: "Host.tls HostTLS.certificate", by: "engine.TestTLS"},
	{keys: "Host.guards Guards.shortest", base: nothing, with: inHost("guards: {shortest: 100ms}")},
	{keys: "Guards.rate-delivered Guards.generator-cpu Guards.foreign-cpu Guards.send-lag Guards.own-delay Guards.clock-step Guards.descriptors Guards.ports", by: "engine.TestThresholds"},

	// Backends and relays.
	{keys: "Backend.replicas", base: nothing, with: inBackend("replicas: 2")},
	{keys: "Backend.routes", by: "engine.TestRoutes"},
	{keys: "Backend.builtin Backend.with", by: "engine.TestBackends"},
	{keys: "Backend.command Backend.env Backend.ready Ready.http Ready.log Ready.tcp Ready.timeout", by: "engine.TestBackends"},
	{keys: "Backend.listen", base: nothing, with: inBackend("listen: [http, h2c]")},
	{keys: "Backend.cpus", base: nothing, with: inBackend(`cpus: "0"`)},
	{keys: "Backend.limits", base: nothing, with: inBackend("limits: {processes: 1}"), by: "engine.TestBackends"},
	{keys: "Backend.address", base: nothing, with: "backends: {other: {address: ['127.0.0.1:1']}}\n" + install("upstreams: other"), by: "engine.TestBackends"},
	{keys: "Relay.of", base: "backends: {more: {replicas: 2}}\n" + inScenario("relays: [slow_web]") + "\n", with: "relays: {slow_web: {of: more}}", by: "engine.TestBackends"},
	{keys: "Relay.server", by: "engine.TestToxiproxy"},

	// Targets.
	{keys: "Target.about", base: nothing, with: inTarget("about: a target")},
	{keys: "Target.from", base: nothing, with: inTarget("from: target.yaml")},
	{keys: "Target.extends", base: nothing, with: "targets: {u: {extends: t}}"},
	{keys: "Target.with Knob.value", base: nothing, with: inTarget("with: {knob: 2}")},
	{keys: "Knob.why", base: nothing, with: inTarget("with: {knob: {value: 1, why: because}}")},
	{keys: "Target.install", base: nothing, with: "targets: {t: {install: [{start: {name: sut, builtin: relay, listen: [http, more], upstreams: web}}]}}"},
	{keys: "Target.routes-changed", by: "actions.TestLater"}, // what changes routes comes later
	{keys: "Target.version", base: nothing, with: inTarget("version: [echo, version 7]")},
	{keys: "Target.endpoints Endpoint.address", by: "engine.TestRunningTarget"},
	{keys: "Endpoint.object Endpoint.port", base: nothing, with: inTarget("endpoints: {http: {object: service/web, port: http}}")},
	{keys: "Target.unsupported", base: nothing, with: inTarget("unsupported: {s: no}")},
	{keys: "Target.cannot-equal", base: nothing, with: inTarget("cannot-equal: [it is older]")},
	{keys: "Target.limits Limits.files", by: "engine.TestNiceAndLimits"},
	{keys: "Limits.memory Limits.count-socket-buffers Limits.cpu Limits.processes", by: "engine/proc.TestMemoryLimit"},

	// Scenarios and phases.
	{keys: "Scenario.about", by: "engine.TestReportWords"},
	{keys: "Scenario.recovery Recovery.rate Recovery.p99 Recovery.slack Recovery.hold", by: "engine.TestRecovery"},
	{keys: "Scenario.use", base: nothing, with: "scenarios: {more: {use: s, repeats: 2}}"},
	{keys: "Scenario.repeats", base: nothing, with: inScenario("repeats: 2")},
	{keys: "Scenario.matrix", base: nothing, with: matrix},
	{keys: "Scenario.vars", base: "verdicts: []\n" + inScenario("vars: {n: 1s}, phases: [{measure: {for: '${{ vars.n }}'}}]"), with: inScenario("vars: {n: 2s}")},
	{keys: "Scenario.with", base: nothing, with: inScenario("with: {knob: 3}")},
	{keys: "Scenario.limits", by: "engine.TestNiceAndLimits"},
	{keys: "Scenario.relays", base: nothing, with: inScenario("relays: [slow_web]")},
	{keys: "Scenario.fresh", base: inScenario("repeats: 2"), with: inScenario("fresh: run")},
	{keys: "Scenario.when", base: nothing, with: inScenario(`when: target != "t"`) + "\n" + twoTargets},
	{keys: "Scenario.phases", base: "verdicts: []", with: inScenario("phases: [{measure: {for: 1s}}]")},
	{keys: "Phase.for", base: nothing, with: inScenario("phases: [{measure: {for: 1s, do: [{load: small}]}}]")},
	{keys: "Phase.do", base: "verdicts: []", with: inScenario("phases: [{measure: {for: 400ms}}]")},
	{keys: "Phase.name", base: nothing, with: inPhase("name: other")},
	{keys: "Phase.until", base: nothing, with: inScenario("phases: [{measure: {for: 4s, do: [{load: small}], until: requests > 10}}]")},
	{keys: "Phase.require", base: nothing, with: inPhase("require: failed > 0")},
	{keys: "Phase.abort Abort.when Abort.after", by: "engine.TestEarlyEnds"},
	{keys: "phase+install phase+warm-up phase+load phase+churn phase+fault phase+measure", base: "verdicts: []",
		with: inScenario("phases: [{install: {for: 100ms}}, {warm-up: {for: 100ms}}, {load: {for: 100ms}}, {churn: {for: 100ms}}, {fault: {for: 100ms}}, {measure: {for: 100ms}}]")},

	// The schedule.
	{keys: "Stage.scenarios", base: "verdicts: []\nscenarios: {more: {phases: [{measure: {for: 100ms}}]}}\nschedule: [{stage: a}]", with: "schedule: [{stage: a, scenarios: [s]}]"},
	{keys: "Stage.targets", base: twoTargets + "\nschedule: [{stage: a}]", with: "schedule: [{stage: a, targets: [t]}]"},
	{keys: "Stage.order Stage.seed", base: twoTargets + "\nschedule: [{stage: a, order: random, seed: 1}]", with: "schedule: [{stage: a, order: random, seed: 5}]"},
	{keys: "Stage.rounds", base: "schedule: [{stage: a}]", with: "schedule: [{stage: a, rounds: 2}]"},
	{keys: "Stage.together", base: "scenarios: {s: {repeats: 2}}\n" + twoTargets + "\nschedule: [{stage: a, order: interleave}]", with: "schedule: [{stage: a, order: interleave, together: true}]"},
	{keys: "Stage.probes StageProbes.without", base: "schedule: [{stage: a}]", with: "schedule: [{stage: a, probes: {without: [process]}}]"},

	// Actions in general.
	{keys: "Action.at", base: do("{exec: ['true']}"), with: do("{exec: ['true'], at: 50%}")},
	{keys: "Action.every", base: do("{exec: ['true']}"), with: do("{exec: ['true'], every: 100ms}")},
	{keys: "Action.for", base: nothing, with: inScenario("phases: [{measure: {for: 400ms, do: [{load: small, for: 200ms}]}}]")},
	{keys: "Action.name", base: nothing, with: inScenario("phases: [{measure: {for: 400ms, do: [{load: small, name: other}]}}]")},
	{keys: "Action.through", base: inScenario("phases: [{measure: {for: 200ms, do: [{load: small}]}}, {load: {name: b, for: 200ms}}]"),
		with: inScenario("phases: [{measure: {for: 200ms, do: [{load: small, through: b}]}}, {load: {name: b, for: 200ms}}]")},
	{keys: "Action.undo", by: "actions.TestUndoLists"},

	// Verdicts and the report.
	{keys: "Verdict.about", by: "engine.TestReportWords"},
	{keys: "Verdict.where", base: twoTargets, with: inVerdict(`where: target == "t"`)},
	{keys: "Verdict.each", base: nothing, with: inVerdict("each: run")},
	{keys: "Verdict.when", base: nothing, with: inVerdict("when: failed > 0")},
	{keys: "Verdict.let", base: nothing, with: "verdicts: [{verdict: v, let: {n: failed}, pass: n > 0}]"},
	{keys: "Verdict.cases Case.when Case.is Case.outcome", base: nothing, with: "verdicts: [{verdict: v, cases: [{when: failed == 0, is: good, outcome: fail}, {is: bad, outcome: pass}]}]"},
	{keys: "Verdict.gate", base: nothing, with: inVerdict("gate: true")},
	{keys: "Verdict.gate-where", base: twoTargets + "\n" + inVerdict("gate: true"), with: inVerdict(`gate: true, gate-where: target == "t"`)},
	{keys: "Verdict.mixed", by: "engine/verdict.TestRounds"},
	{keys: "Metric.about Metric.better Metric.unit", base: "metrics: {twice: {of: 2 * failed}}", with: "metrics: {twice: {of: 2 * failed, about: two of them, better: lower, unit: apples}}"},
	{keys: "Metric.across", base: inScenario("repeats: 2") + "\nmetrics: {one: {of: 1 + failed}}\nverdicts: [{verdict: w, pass: one > 1}]", with: "metrics: {one: {of: 1 + failed, across: sum}}"},
	{keys: "Section.section", base: nothing, with: "report: [{section: verdicts}]"},
	{keys: "Section.table Section.rows Section.metrics", base: "report: [{section: verdicts}]", with: inSection("")},
	{keys: "Section.columns", base: inSection(""), with: inSection("columns: scenario")},
	{keys: "Section.where", base: twoTargets + "\n" + inSection(""), with: inSection(`where: target == "t"`)},
	{keys: "Section.chart Section.as", base: "report: [{section: verdicts}]", with: "report: [{chart: req_per_s, as: bars}]"},
	{keys: "Section.ratios Ratio.of Ratio.to RatioTo.target", base: twoTargets + "\n" + inSection(""), with: inSection("ratios: [{of: t, to: u}]")},
	{keys: "RatioTo.best", base: twoTargets + "\n" + inSection("ratios: [{of: t, to: u}]"), with: inSection("ratios: [{of: t, to: {best: [t, u]}}]")},
	{keys: "Ratio.metrics Ratio.distorted-above", base: twoTargets + "\n" + inSection("ratios: [{of: t, to: u}]"), with: inSection("ratios: [{of: t, to: u, metrics: [p50_ms], distorted-above: 5%}]")},
	{keys: "Ratio.distorted", by: "plans.TestPublishedRatios"},
	{keys: "Section.aggregate", base: inSection(""), with: inSection("aggregate: geomean")},
	{keys: "Section.beside Section.label", by: "cmd/planrun.TestScripts"}, // report_beside.txtar
	{keys: "Section.losses Losses.against", base: twoTargets + "\n" + inSection(""), with: "report: [{table: Losses, losses: {against: u}}]"},

	// Probes.
	{keys: "Probe.name", base: "probes: [backend-connections, {backend-connections: {}, name: other}]\nschedule: [{stage: a, probes: {without: [other]}}]", with: "probes: [{backend-connections: {}, name: other}, {relay: {}, name: more}]"},
	{keys: "Probe.every probe+process.every probe+host.every probe+cgroup.every probe+backend-connections.every probe+relay.every", by: "engine.TestProbes"},
	{keys: "Probe.of probe+backend-connections.of probe+process.of probe+cgroup.of probe+relay.of", by: "engine.TestProbes"},
	{keys: "probe+process.threads", by: "probes.TestThreadsShow"},
	{keys: "probe+balancer", base: nothing, with: "probes: [{balancer: {of: t}}]"},
	{keys: "probe+command", base: nothing, with: "probes: [{command: {command: [x], keep: {n: a}}}]"},
	{keys: "probe+envoy", base: nothing, with: "probes: [{envoy: {of: sut, keep: {n: a}}}]"},
	{keys: "probe+haproxy-stats", base: nothing, with: "probes: [{haproxy-stats: {of: sut, keep: {n: scur}}}]"},
	{keys: "probe+log", base: nothing, with: "probes: [{log: {of: sut, count: {n: x}}}]"},
	{keys: "probe+nginx-stub-status", base: nothing, with: "probes: [{nginx-stub-status: {of: sut}}]"},
	{keys: "probe+prometheus", base: nothing, with: "probes: [{prometheus: {of: sut, keep: {n: x}}}]"},
}
