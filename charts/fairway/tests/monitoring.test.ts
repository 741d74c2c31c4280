import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { objectsOf, template, unpackHelm, type Rendered } from "./helm.ts";

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

function promtool(...args: string[]): string {
  return execFileSync("promtool", args, { cwd: folder, encoding: "utf8" });
}

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

  it("has rules that Prometheus accepts, bound to the namespace of the release", () => {
    expect(promtool("check", "rules", "rules.yaml")).toContain(`SUCCESS: ${rules.length} rules found`);
    for (const { expr } of rules) expect(expr).toContain('namespace="models"');
    expect(JSON.stringify(rules)).not.toContain("NAMESPACE");
  });

  it("asks for metrics that exist only", () => {
    const reference = readFileSync(new URL("reference/metrics.md", DOCS), "utf8");
    const documented = new Set([...reference.matchAll(/^\| `(fairway_\w+)`/gm)].map(([, name]) => name));
    const asked = rules.flatMap(({ expr }) => expr.match(/\bfairway_\w+/g) ?? []);
    expect(asked.map((name) => name.replace(/_bucket$/, "")).filter((name) => !documented.has(name))).toEqual([]);
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
      alert: "FairwayLedgerDrift",
      series: ['fairway_ledger_drift_accounts{namespace="models"} 2+0x20'],
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
    const fires = {
      eval_time: at,
      alertname: alert,
      exp_alerts: [{ exp_labels: labels, exp_annotations: { summary, runbook_url } }],
    };
    const quiet = { eval_time: "0m", alertname: alert, exp_alerts: [] };
    const test = {
      interval: "1m",
      input_series: series.map((line) => ({
        series: line.slice(0, line.lastIndexOf("} ") + 1),
        values: line.slice(line.lastIndexOf("} ") + 2),
      })),
      alert_rule_test: [quiet, fires],
    };
    const file = `${alert}.yaml`;
    writeFileSync(
      join(folder, file),
      stringify({ rule_files: ["rules.yaml"], evaluation_interval: "1m", tests: [test] }),
    );
    expect(promtool("test", "rules", file)).toContain("SUCCESS");
  });
});
