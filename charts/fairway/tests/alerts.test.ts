// Every alert, simulated with Prometheus: it fires when it should, and not before.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { findHelm } from "@fairway/testkit/helm";
import { FIRING } from "./alert-series.ts";
import { CHART, requireObject, render } from "./helm.ts";

let folder = "";
let alerts: readonly (string | undefined)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fairway-alerts-"));
  const spec = requireObject(await render(findHelm(), "monitored"), "PrometheusRule")["spec"] as {
    readonly groups: readonly { readonly rules: readonly { readonly alert?: string }[] }[];
  };
  alerts = spec.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).filter((alert) => alert !== undefined);
  writeFileSync(join(folder, "rules.yaml"), stringify(spec));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Plays the lines, one value per minute, and expects the alert to fire at `at`, or not at all. */
function play(alert: string, at: string, lines: readonly string[], expected: readonly object[]): string {
  const test = {
    interval: "1m",
    input_series: lines.map((line) => {
      const end = line.lastIndexOf("} ") + 1;
      return { series: line.slice(0, end), values: line.slice(end + 1) };
    }),
    alert_rule_test: [
      { eval_time: "0m", alertname: alert, exp_alerts: [] },
      { eval_time: at, alertname: alert, exp_alerts: expected },
    ],
  };
  const file = `${alert}.yaml`;
  writeFileSync(
    join(folder, file),
    stringify({ rule_files: ["rules.yaml"], evaluation_interval: "1m", tests: [test] }),
  );
  return execFileSync("promtool", ["test", "rules", file], { cwd: folder, encoding: "utf8" });
}

/**
 * Alert -> the test of its real cause, where no Prometheus sees it fire: it needs two releases, a lost commit, a
 * comparison that runs once an hour, or minutes of an outage.
 */
const OTHER_TESTS: Readonly<Record<string, string>> = {
  FairwayDatabaseDown: "packages/testkit/integration/database-silence.test.ts",
  FairwayDatabaseWentBack: "packages/gateway/src/billing/ledger/redis/went-back.test.ts",
  FairwayLedgerDrift: "packages/gateway/src/jobs/ledger-audit.test.ts",
  FairwayNoLeader: "packages/gateway/src/jobs/leader.test.ts",
  FairwayJobStandsStill: "packages/gateway/src/jobs/leader-paused.test.ts",
  FairwaySettlementBacklog: "packages/testkit/integration/database-silence.test.ts",
  FairwayStreamsCutOnDrain: "packages/gateway/test/edge/drain.test.ts",
  FairwayVersionSkew: "packages/gateway/src/observability/metrics.test.ts",
  FairwayWebhookBacklog: "packages/testkit/integration/hostile-receivers.test.ts",
};

describe("an alert", () => {
  it("fires by its real cause in a test", () => {
    const files = globSync("alert*.test.ts", { cwd: import.meta.dirname }).filter((file) => file !== "alerts.test.ts");
    const texts = files.map((file) => readFileSync(join(import.meta.dirname, file), "utf8")).join("\n");
    const others = alerts.filter((alert) => !texts.includes(`"${alert}"`));
    expect(new Set(others)).toEqual(new Set(Object.keys(OTHER_TESTS)));
    for (const file of Object.values(OTHER_TESTS)) expect(existsSync(join(CHART, "../..", file)), file).toBe(true);
  });

  it("is played here, whichever it is", () => {
    expect(new Set(FIRING.map(({ alert }) => alert))).toEqual(new Set(alerts));
  });

  it.each(FIRING)("fires $alert and leaves it alone before its time", ({ alert, series, at, labels, summary }) => {
    const runbook_url = `https://docs.example.com/fairway/operate/alerts#${alert.toLowerCase()}`;
    const fired = { exp_labels: labels, exp_annotations: { summary, runbook_url } };
    expect(play(alert, at, series, [fired])).toContain("SUCCESS");
  });

  it.each([
    {
      name: "clients ask for names that no channel has",
      alert: "FairwayNoChannelAvailable",
      series: [
        'fairway_relay_requests_total{namespace="models",model="other",group="vip",outcome="model_not_found"} 0+10x20',
      ],
      at: "8m",
    },
    {
      name: "clients ask for names that no channel has",
      alert: "FairwayErrorBudgetFastBurn",
      series: [
        'fairway_relay_requests_total{namespace="models",model="m",outcome="ok"} 0+60x90',
        'fairway_relay_requests_total{namespace="models",model="other",outcome="model_not_found"} 0+60x90',
      ],
      at: "80m",
    },
    {
      name: "three of the first four requests after a start fail",
      alert: "FairwayErrorBudgetFastBurn",
      series: [
        'fairway_relay_requests_total{namespace="models",model="m",outcome="ok"} 0 1+0x30',
        'fairway_relay_requests_total{namespace="models",model="m",outcome="upstream_error"} 0 1 2 3+0x30',
      ],
      at: "5m",
    },
    {
      name: "one request an hour fails at night",
      alert: "FairwayErrorBudgetFastBurn",
      series: ['fairway_relay_requests_total{namespace="models",model="m",outcome="timeout"} 0x58 1x60 2x60'],
      at: "62m",
    },
    {
      name: "clients leave",
      alert: "FairwayChannelErrorRateHigh",
      series: [
        'fairway_upstream_attempts_total{namespace="models",channel_id="7",channel_name="a",outcome="ok"} 0+60x30',
        'fairway_upstream_attempts_total{namespace="models",channel_id="7",channel_name="a",outcome="client_abort"} 0+60x30',
      ],
      at: "20m",
    },
    {
      name: "another Node program of the namespace is slow",
      alert: "FairwayEventLoopLag",
      series: [
        'nodejs_eventloop_lag_p99_seconds{namespace="models",job="shop",instance="c:80"} 0.5+0x20',
        'fairway_build_info{namespace="models",job="j",instance="a:9090"} 1+0x20',
      ],
      at: "12m",
    },
    {
      name: "the replica that led before found differences and the one that leads finds none",
      alert: "FairwayLedgerDrift",
      series: [
        'fairway_ledger_drift_accounts{namespace="models",instance="a"} 2+0x20',
        'fairway_ledger_drift_accounts{namespace="models",instance="b"} 0+0x20',
        'fairway_job_last_success_timestamp_seconds{namespace="models",instance="a",exported_job="ledger-audit"} 10+0x20',
        'fairway_job_last_success_timestamp_seconds{namespace="models",instance="b",exported_job="ledger-audit"} 20+0x20',
      ],
      at: "16m",
    },
    {
      name: "two installations of a namespace have a leader each",
      alert: "FairwaySplitLeader",
      series: ['fairway_leader{namespace="models",job="a"} 1+0x5', 'fairway_leader{namespace="models",job="b"} 1+0x5'],
      at: "2m",
    },
    {
      name: "two installations of a namespace have a version each",
      alert: "FairwayVersionSkew",
      series: [
        'fairway_build_info{namespace="models",job="a",version="0.1.0"} 1+0x40',
        'fairway_build_info{namespace="models",job="b",version="0.2.0"} 1+0x40',
      ],
      at: "35m",
    },
  ])("leaves $alert alone while $name", ({ alert, series, at }) => {
    expect(play(alert, at, series, [])).toContain("SUCCESS");
  });
});
