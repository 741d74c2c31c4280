// Every alert, simulated with Prometheus: it fires when it should, and not before.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { unpackHelm } from "@fairway/testkit/helm";
import { requireObject, render } from "./helm.ts";

let folder = "";
let alerts: readonly (string | undefined)[] = [];

beforeAll(async () => {
  const helm = unpackHelm();
  folder = mkdtempSync(join(tmpdir(), "fairway-alerts-"));
  const spec = requireObject(await render(helm.path, "monitored"), "PrometheusRule")["spec"] as {
    readonly groups: readonly { readonly rules: readonly { readonly alert?: string }[] }[];
  };
  helm.remove();
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

const FIRING = [
  {
    alert: "FairwayAbsent",
    series: [],
    at: "6m",
    labels: { severity: "critical", namespace: "models" },
    summary: "No gateway is scraped",
  },
  {
    alert: "FairwayNoChannelAvailable",
    series: ['fairway_relay_requests_total{namespace="models",model="m",group="vip",outcome="no_channel"} 0+10x20'],
    at: "8m",
    labels: { severity: "critical", namespace: "models", model: "m", group: "vip" },
    summary: "No channel serves m to group vip",
  },
  {
    alert: "FairwayNoChannelAvailable",
    series: [
      'fairway_relay_requests_total{namespace="models",model="m",group="free",outcome="model_not_found"} 0+10x20',
    ],
    at: "8m",
    labels: { severity: "critical", namespace: "models", model: "m", group: "free" },
    summary: "No channel serves m to group free",
  },
  {
    alert: "FairwayErrorBudgetFastBurn",
    series: [
      'fairway_relay_requests_total{namespace="models",outcome="ok"} 0+60x90',
      'fairway_relay_requests_total{namespace="models",outcome="upstream_error"} 0+20x90',
    ],
    at: "80m",
    labels: { severity: "critical", namespace: "models" },
    summary: "25% of the requests fail",
  },
  {
    alert: "FairwayChannelErrorRateHigh",
    series: [
      'fairway_upstream_attempts_total{namespace="models",channel_id="7",channel_name="a",outcome="ok"} 0+60x30',
      'fairway_upstream_attempts_total{namespace="models",channel_id="7",channel_name="a",outcome="timeout"} 0+60x30',
    ],
    at: "20m",
    labels: { severity: "warning", namespace: "models", channel_id: "7", channel_name: "a" },
    summary: "50% of the calls of channel a fail",
  },
  {
    alert: "FairwayEventLoopLag",
    series: [
      'nodejs_eventloop_lag_p99_seconds{namespace="models",job="j",instance="a:9090",pod="a"} 0.5+0x20',
      'fairway_build_info{namespace="models",job="j",instance="a:9090",pod="a"} 1+0x20',
    ],
    at: "12m",
    labels: { severity: "warning", namespace: "models", job: "j", instance: "a:9090", pod: "a" },
    summary: "a is overloaded",
  },
  {
    // The counter appears with the first lost charge.
    alert: "FairwaySettlementRefused",
    series: ['fairway_settlement_failures_total{namespace="models",job="j",pod="a",final="true"} _x20 1+0x40'],
    at: "25m",
    labels: { severity: "critical", namespace: "models", job: "j" },
    summary: "A charge could not be written",
  },
  {
    // The counter appears with the first answer of this kind.
    alert: "FairwayUsageNotBelieved",
    series: [
      'fairway_usage_bounded_total{namespace="models",job="j",pod="a",channel_id="7",channel_name="a"} _x20 1+0x40',
    ],
    at: "25m",
    labels: { severity: "warning", namespace: "models", job: "j", channel_id: "7", channel_name: "a" },
    summary: "Channel a reports more usage than its answers can have cost",
  },
  {
    alert: "FairwayLedgerDrift",
    series: [
      'fairway_ledger_drift_accounts{namespace="models",instance="a"} 0+0x20',
      'fairway_ledger_drift_accounts{namespace="models",instance="b"} 2+0x20',
      'fairway_job_last_success_timestamp_seconds{namespace="models",instance="a",exported_job="ledger-audit"} 10+0x20',
      'fairway_job_last_success_timestamp_seconds{namespace="models",instance="b",exported_job="ledger-audit"} 20+0x20',
    ],
    at: "16m",
    labels: { severity: "critical", namespace: "models" },
    summary: "2 balances differ between Redis and the database",
  },
  {
    alert: "FairwaySplitLeader",
    series: ['fairway_leader{namespace="models",pod="a"} 1+0x5', 'fairway_leader{namespace="models",pod="b"} 1+0x5'],
    at: "2m",
    labels: { severity: "critical", namespace: "models" },
    summary: "Two replicas do the periodic work",
  },
  {
    alert: "FairwayChannelAutoDisabled",
    series: ['fairway_channel_status{namespace="models",job="j",channel_id="7",channel_name="a"} 1 3+0x5'],
    at: "3m",
    labels: { severity: "warning", namespace: "models", job: "j", channel_id: "7", channel_name: "a" },
    summary: "Channel a was switched off",
  },
  {
    alert: "FairwayTimeToFirstTokenSlow",
    series: [
      'fairway_relay_ttft_seconds_bucket{namespace="models",job="j",model="m",le="10"} 0+0x40',
      'fairway_relay_ttft_seconds_bucket{namespace="models",job="j",model="m",le="20"} 0+60x40',
      'fairway_relay_ttft_seconds_bucket{namespace="models",job="j",model="m",le="+Inf"} 0+60x40',
    ],
    at: "30m",
    labels: { severity: "warning", namespace: "models", job: "j", model: "m" },
    summary: "Model m needs 19.5s to its first content",
  },
  {
    alert: "FairwayInflightNearLimit",
    series: [
      'fairway_inflight_requests{namespace="models",job="j",instance="a:9090",pod="a"} 90+0x20',
      'fairway_inflight_streams_limit{namespace="models",job="j",instance="a:9090",pod="a"} 100+0x20',
    ],
    at: "7m",
    labels: { severity: "warning", namespace: "models", job: "j", instance: "a:9090", pod: "a" },
    summary: "a is close to FAIRWAY_MAX_INFLIGHT",
  },
  {
    alert: "FairwayStreamsCutOnDrain",
    series: ['fairway_drain_streams_aborted_total{namespace="models",job="j",pod="a"} 0x10 4+0x5'],
    at: "12m",
    labels: { severity: "warning", namespace: "models", job: "j" },
    summary: "A stop cut streams",
  },
  {
    alert: "FairwayDatabaseDown",
    series: [
      'fairway_dependency_up{namespace="models",job="j",pod="a",dependency="database"} 1 1 0+0x10',
      'fairway_dependency_up{namespace="models",job="j",pod="b",dependency="database"} 1+0x12',
    ],
    at: "4m",
    labels: { severity: "critical", namespace: "models", job: "j" },
    summary: "The database does not answer",
  },
  {
    alert: "FairwayRedisDown",
    series: ['fairway_dependency_up{namespace="models",job="j",pod="a",dependency="redis"} 1 1 0+0x10'],
    at: "5m",
    labels: { severity: "warning", namespace: "models", job: "j" },
    summary: "Redis does not answer",
  },
  {
    alert: "FairwaySettlementBacklog",
    series: ['fairway_settlement_queue_depth{namespace="models",job="j",pod="a"} 0+200x40'],
    at: "20m",
    labels: { severity: "warning", namespace: "models", job: "j" },
    summary: "4000 charges wait for the database",
  },
  {
    alert: "FairwayNoLeader",
    series: [
      'fairway_leader{namespace="models",job="j",pod="a"} 1 0+0x10',
      'fairway_leader{namespace="models",job="j",pod="b"} 0+0x10',
    ],
    at: "5m",
    labels: { severity: "warning", namespace: "models", job: "j" },
    summary: "No replica does the periodic work",
  },
  {
    alert: "FairwayJobStandsStill",
    series: [
      'fairway_job_last_success_timestamp_seconds{namespace="models",job="j",pod="a",exported_job="log-retention"} 0+0x140',
    ],
    at: "126m",
    labels: { severity: "warning", namespace: "models", job: "j", exported_job: "log-retention" },
    summary: "Job log-retention has not succeeded for 2h 6m 0s",
  },
  {
    alert: "FairwayLogExportBehind",
    series: ['fairway_log_export_lag_seconds{namespace="models",job="j",pod="a",destination="s3"} 0 1000+0x20'],
    at: "12m",
    labels: { severity: "warning", namespace: "models", job: "j", destination: "s3" },
    summary: "The export to s3 lacks log rows of the last 16m 40s",
  },
  {
    alert: "FairwayGuardrailFailing",
    series: ['fairway_guardrail_verdicts_total{namespace="models",job="j",pod="a",verdict="failed"} 0+3x20'],
    at: "8m",
    labels: { severity: "warning", namespace: "models", job: "j" },
    summary: "The guardrail webhook gives no verdicts",
  },
  {
    alert: "FairwayResourceNotSynced",
    series: [
      'fairway_gitops_resource_synced{namespace="models",job="j",pod="a",kind="Channel",exported_namespace="ai",name="main"} 0+0x30',
      'fairway_gitops_resource_synced{namespace="models",job="j",pod="a",kind="Channel",exported_namespace="ai",name="spare"} 1+0x30',
    ],
    at: "16m",
    labels: {
      severity: "warning",
      namespace: "models",
      job: "j",
      kind: "Channel",
      exported_namespace: "ai",
      name: "main",
    },
    summary: "Channel ai/main is not applied",
  },
  {
    alert: "FairwayVersionSkew",
    series: [
      'fairway_build_info{namespace="models",job="j",pod="a",version="0.1.0"} 1+0x40',
      'fairway_build_info{namespace="models",job="j",pod="b",version="0.2.0"} 1+0x40',
    ],
    at: "32m",
    labels: { severity: "info", namespace: "models", job: "j" },
    summary: "Two versions run side by side",
  },
  {
    alert: "FairwayChannelBalanceLow",
    series: [
      'fairway_channel_balance_usd{namespace="models",job="j",pod="a",channel_id="7",channel_name="a"} 2+0x30',
      'fairway_channel_balance_timestamp_seconds{namespace="models",job="j",pod="a",channel_id="7",channel_name="a"} 0+0x30',
    ],
    at: "18m",
    labels: { severity: "warning", namespace: "models", job: "j", pod: "a", channel_id: "7", channel_name: "a" },
    summary: "2 USD are left at the provider of channel a",
  },
];

describe("an alert", () => {
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
