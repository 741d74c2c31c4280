import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { findHelm } from "@fairway/testkit/helm";
import { parseObjects, requireObject, render, template, type Rendered } from "./helm.ts";
import { documentedLabels, metricsIn, unknownLabels } from "./metrics.ts";

interface Rule {
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: Record<string, string>;
}

const DOCS = new URL("../../../docs/", import.meta.url);
const helm = findHelm();
let folder = "";
let objects: readonly Rendered[] = [];
let rules: readonly Rule[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fairway-rules-"));
  objects = parseObjects((await template(helm, "monitored")).output);
  const spec = requireRendered("PrometheusRule")["spec"] as { groups: { rules: Rule[] }[] };
  rules = spec.groups.flatMap((group) => group.rules);
  writeFileSync(join(folder, "rules.yaml"), stringify(spec));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function requireRendered(kind: string): Rendered {
  const found = objects.find((object) => object.kind === kind);
  if (!found) throw new Error(`no ${kind} was rendered`);
  return found;
}

function promtool(...args: string[]): string {
  return execFileSync("promtool", args, { cwd: folder, encoding: "utf8" });
}

const monitorKind = (name: string) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;

describe("monitoring", () => {
  it("is absent unless asked for", async () => {
    const kinds = parseObjects((await template(helm, "mysql")).output).map(({ kind }) => kind);
    expect(kinds).not.toContain("PrometheusRule");
    expect(kinds).not.toContain("ServiceMonitor");
  });

  it("scrapes the admin service alone, and carries the labels that are selected by", () => {
    const monitor = requireRendered("ServiceMonitor");
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
    const monitor = requireObject(await render(helm, "monitored", [JSON.stringify({ metrics })]), monitorKind(name));
    const spec = monitor["spec"] as Record<string, readonly { readonly relabelings: readonly object[] }[]>;
    const [endpoint] = spec["endpoints"] ?? spec["podMetricsEndpoints"] ?? [];
    expect(endpoint).toMatchObject({ metricRelabelings });
    expect(endpoint?.relabelings.at(-1)).toEqual(relabelings[0]);
    if (name === "podMonitor") expect(endpoint?.relabelings[0]).toMatchObject({ targetLabel: "job" });
  });

  it("leaves out the alerts that are disabled, and refuses names of none", async () => {
    const set = (alert: string) => JSON.stringify({ metrics: { prometheusRule: { disabledAlerts: [alert] } } });
    const { groups } = requireObject(await render(helm, "monitored", [set("FairwayAbsent")]), "PrometheusRule")[
      "spec"
    ] as {
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
});
