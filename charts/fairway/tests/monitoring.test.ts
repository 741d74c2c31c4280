import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { unpackHelm } from "@fairway/testkit/helm";
import { objectsOf, oneOf, render, template, type Rendered } from "./helm.ts";
import { documentedLabels, metricsIn, unknownLabels } from "./metrics.ts";

interface Rule {
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: Record<string, string>;
}

const DOCS = new URL("../../../docs/", import.meta.url);
let helm = "";
let remove = () => {};
let folder = "";
let objects: readonly Rendered[] = [];
let rules: readonly Rule[] = [];

beforeAll(async () => {
  ({ path: helm, remove } = unpackHelm());
  folder = mkdtempSync(join(tmpdir(), "fairway-rules-"));
  objects = objectsOf((await template(helm, "monitored")).output);
  const spec = one("PrometheusRule")["spec"] as { groups: { rules: Rule[] }[] };
  rules = spec.groups.flatMap((group) => group.rules);
  writeFileSync(join(folder, "rules.yaml"), stringify(spec));
});
afterAll(() => {
  remove();
  rmSync(folder, { recursive: true, force: true });
});

function one(kind: string): Rendered {
  const found = objects.find((object) => object.kind === kind);
  if (!found) throw new Error(`no ${kind} was rendered`);
  return found;
}

/** Plays the lines, one value a minute, and expects the alert to fire at `at`, or not at all. */
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
  return promtool("test", "rules", file);
}

function promtool(...args: string[]): string {
  return execFileSync("promtool", args, { cwd: folder, encoding: "utf8" });
}

const monitorKind = (name: string) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;

describe("monitoring", () => {
  it("is absent unless asked for", async () => {
    const kinds = objectsOf((await template(helm, "mysql")).output).map(({ kind }) => kind);
    expect(kinds).not.toContain("PrometheusRule");
    expect(kinds).not.toContain("ServiceMonitor");
  });

  it("scrapes the admin service alone, and carries the labels that are selected by", () => {
    const monitor = one("ServiceMonitor");
    const { selector } = monitor["spec"] as { selector: { matchLabels: Record<string, string> } };
    const matched = objects.filter(
      ({ kind, metadata }) =>
        kind === "Service" &&
        Object.entries(selector.matchLabels).every(([name, value]) => metadata.labels?.[name] === value),
    );
    expect(matched.map(({ metadata }) => metadata.name)).toEqual(["demo-fairway-admin"]);
    expect(monitor.metadata.labels).toMatchObject({ release: "prometheus" });
  });

  it.each(["serviceMonitor", "podMonitor"])("of a %s takes relabelings, and keeps its job", async (name) => {
    const relabelings = [{ action: "labeldrop", regex: "pod_.*" }];
    const metricRelabelings = [{ action: "drop", sourceLabels: ["__name__"], regex: "nodejs_.*" }];
    const metrics = {
      serviceMonitor: { enabled: false },
      podMonitor: { enabled: false },
      [name]: { enabled: true, relabelings, metricRelabelings },
    };
    const monitor = oneOf(await render(helm, "monitored", [JSON.stringify({ metrics })]), monitorKind(name));
    const spec = monitor["spec"] as Record<string, readonly { readonly relabelings: readonly object[] }[]>;
    const [endpoint] = spec["endpoints"] ?? spec["podMetricsEndpoints"] ?? [];
    expect(endpoint).toMatchObject({ metricRelabelings });
    expect(endpoint?.relabelings.at(-1)).toEqual(relabelings[0]);
    if (name === "podMonitor") expect(endpoint?.relabelings[0]).toMatchObject({ targetLabel: "job" });
  });

  it("leaves out the alerts that are disabled, and refuses names of none", async () => {
    const set = (alert: string) => JSON.stringify({ metrics: { prometheusRule: { disabledAlerts: [alert] } } });
    const { groups } = oneOf(await render(helm, "monitored", [set("FairwayAbsent")]), "PrometheusRule")["spec"] as {
      readonly groups: readonly { readonly rules: readonly object[] }[];
    };
    expect(groups.flatMap((group) => group.rules)).toHaveLength(rules.length - 1);
    expect(JSON.stringify(groups)).not.toContain('"FairwayAbsent"');
    const { code, output } = await template(helm, "monitored", [set("FairwayAbsnt")]);
    expect(code).not.toBe(0);
    expect(output).toContain("disabledAlerts names FairwayAbsnt, which is no alert of the chart");
  });

  it("has rules that Prometheus accepts, bound to the namespace of the release", () => {
    expect(promtool("check", "rules", "rules.yaml")).toContain(`SUCCESS: ${rules.length} rules found`);
    for (const { expr } of rules) expect(expr).toContain('namespace="models"');
    expect(JSON.stringify(rules)).not.toContain("NAMESPACE");
  });

  it("queries only metrics and labels that exist", () => {
    const labels = documentedLabels();
    const asked = rules.flatMap(({ expr }) => metricsIn(expr)).filter((name) => name.startsWith("fairway_"));
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((name) => !labels.has(name))).toEqual([]);
    expect(rules.flatMap(({ expr }) => unknownLabels(expr, labels))).toEqual([]);
  });

  it("says of each alert what to do, at the address that the alert names", () => {
    const page = readFileSync(new URL("operate/alerts.md", DOCS), "utf8");
    const alerts = rules.flatMap((rule) => (rule.alert ? [rule] : []));
    const headings = [...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(new Set(headings)).toEqual(new Set(alerts.map(({ alert }) => alert)));
    for (const { alert, annotations } of alerts)
      expect(annotations?.["runbook_url"]).toBe(
        `https://docs.example.com/fairway/operate/alerts#${alert?.toLowerCase()}`,
      );
  });

  it.each([
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
      // The counter is born with the first charge that is lost.
      alert: "FairwaySettlementRefused",
      series: ['fairway_settlement_failures_total{namespace="models",job="j",pod="a",final="true"} _x20 1+0x40'],
      at: "25m",
      labels: { severity: "critical", namespace: "models", job: "j" },
      summary: "A charge could not be written",
    },
    {
      // The counter is born with the first answer of this kind.
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
  ])("fires $alert and leaves it alone before its time", ({ alert, series, at, labels, summary }) => {
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
