// The dashboard in the way that Grafana uses it: its queries go to a Prometheus that scrapes a real gateway.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createChannel,
  createToken,
  setModelRatios,
  setOptions,
  signIn,
  startGateway,
  startRedis,
  startUpstream,
  type GatewayProcess,
} from "@fairway/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { findHelm } from "@fairway/testkit/helm";
import { CHART, requireObject, render } from "./helm.ts";
import { documentedLabels, metricsIn, unknownLabels } from "./metrics.ts";
import { promtool, startPrometheus, type Prometheus } from "./prometheus.ts";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: object;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string; readonly datasource: object }[];
}
interface Variable {
  readonly name: string;
  readonly type: string;
  readonly definition?: string;
}
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

const file = readFileSync(join(CHART, "files/dashboard.json"), "utf8");
const dashboard = JSON.parse(file) as Dashboard;
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legend: legendFormat })),
);
/** Values that replace a reader's choices. */
const CHOICES: Readonly<Record<string, string>> = {
  namespace: "models",
  job: "gateway",
  model: ".*",
  channel: ".*",
  quota_per_usd: "500000",
  __rate_interval: "1m",
};
const fillVariables = (text: string) => text.replaceAll(/\$(\w+)/g, (_, name: string) => CHOICES[name] ?? `$${name}`);

const listLabels = (legend: string) => [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);

const helm = findHelm();
let folder = "";
const cleanups: (() => unknown)[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fairway-dashboard-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

describe("the dashboard's ConfigMap", () => {
  it("is absent unless asked for", async () => {
    expect((await render(helm, "monitored")).map(({ kind }) => kind)).not.toContain("ConfigMap");
  });

  it("holds the dashboard where Grafana's sidecar looks for it", async () => {
    const map = requireObject(await render(helm, "large"), "ConfigMap");
    expect(map.metadata).toMatchObject({
      namespace: "models",
      labels: { grafana_dashboard: "1" },
      annotations: { grafana_folder: "Fairway" },
    });
    const data = map["data"] as Readonly<Record<string, string>>;
    expect(JSON.parse(data["fairway.json"] ?? "")).toEqual(dashboard);
  });

  it("follows a sidecar with labels, folders and a namespace of its own", async () => {
    const own = {
      labels: { grafana_dashboard: null, board: "yes" },
      annotations: { k8s_folder: "ai" },
      namespace: "seen",
    };
    const map = requireObject(
      await render(helm, "large", [JSON.stringify({ metrics: { dashboard: own } })]),
      "ConfigMap",
    );
    expect(map.metadata).toMatchObject({
      namespace: "seen",
      labels: { board: "yes" },
      annotations: { k8s_folder: "ai" },
    });
    expect(map.metadata.labels).not.toHaveProperty("grafana_dashboard");
  });
});

describe("the dashboard", () => {
  it("has panels with a name each, side by side", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
      expect({ title, fits: x + w <= 24 && title !== "" }).toEqual({ title, fits: true });
      return Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  it("asks the Prometheus, namespace and installation that the reader chooses", () => {
    const known = new Set([...dashboard.templating.list.map(({ name }) => name), "__rate_interval"]);
    const used = queries.flatMap(({ expr }) => [...expr.matchAll(/\$\{?(\w+)/g)].map(([, name = ""]) => name));
    expect(used.filter((name) => !known.has(name))).toEqual([]);
    for (const { targets = [] } of dashboard.panels)
      for (const { datasource } of targets) expect(datasource).toEqual({ type: "prometheus", uid: "${datasource}" });
    for (const { expr } of queries)
      for (const [, selector] of expr.matchAll(/\w+(\{[^}]*\})/g))
        expect(selector).toContain('namespace="$namespace",job="$job"');
  });

  it("has queries that Prometheus accepts", () => {
    const rules = queries.map(({ expr }, index) => ({ record: `query:${index}`, expr: fillVariables(expr) }));
    writeFileSync(join(folder, "queries.yaml"), stringify({ groups: [{ name: "dashboard", rules }] }));
    expect(promtool(folder, "check", "rules", "queries.yaml")).toContain(`SUCCESS: ${rules.length} rules found`);
  });
});

describe("with a gateway that serves", () => {
  /**
   * Metrics of events that do not occur here: outages, waits, tests of channels, balances at providers, a guardrail.
   */
  const ABSENT = [
    "Requests without Redis or without their budgets",
    "Time of the last test",
    "Balance at the provider",
    "Age of balances",
    "Wait for a channel, 95 %",
    "Limits decided without Redis",
    "Verdicts of the guardrail",
    "Time of a verdict, 95 %",
  ];
  let gateway: GatewayProcess;
  let prometheus: Prometheus;
  let exposed = "";

  beforeAll(async () => {
    const [redis, upstream] = await Promise.all([startRedis(), startUpstream()]);
    cleanups.push(
      () => redis.stop(),
      () => upstream.stop(),
    );
    gateway = await startGateway({ redis: redis.url, env: { FAIRWAY_MAX_INFLIGHT: "100" } });
    cleanups.push(() => gateway.stop());
    prometheus = await startPrometheus(gateway.adminUrl, { namespace: "models", pod: "gateway-0" });
    cleanups.push(() => prometheus.stop());
    await serve(gateway.url, upstream.url);
    exposed = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  });

  /** Produces answers, a channel that fails until it rests, and a limit that is reached. */
  async function serve(url: string, upstream: string): Promise<void> {
    const root = await signIn(url);
    await setModelRatios(root, { "status-500": 1 });
    await createChannel(root, { name: "good", base_url: upstream, models: "gpt-4o-mini" });
    await createChannel(root, { name: "bad", base_url: upstream, models: "status-500" });
    const key = await createToken(root);
    const ask = async (model: string, stream = false): Promise<number> => {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hi" }] }),
      });
      await answer.text();
      return answer.status;
    };
    expect([await ask("gpt-4o-mini"), await ask("gpt-4o-mini", true), await ask("gpt-4o-mini", true)]).toEqual([
      200, 200, 200,
    ]);
    for (let failures = 0; failures < 5; failures++) expect(await ask("status-500")).toBeGreaterThanOrEqual(500);
    await setOptions(root, { ModelRequestRateLimitCount: "1", ModelRequestRateLimitEnabled: "true" });
    await ask("gpt-4o-mini");
    expect(await ask("gpt-4o-mini")).toBe(429);
  }

  it("queries metrics of the gateway by their type", () => {
    const kinds = new Map(
      [...exposed.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", kind = ""]) => [name, kind]),
    );
    for (const { title, expr } of queries) {
      expect(
        metricsIn(expr).filter((name) => !kinds.has(name)),
        title,
      ).toEqual([]);
      const inRates = new Set(
        [...expr.matchAll(/\b(?:rate|increase)\((\w+)\{/g)].map(([, name = ""]) => metricsIn(name)[0]),
      );
      for (const name of metricsIn(expr))
        expect({ title, name, isRate: inRates.has(name) }).toEqual({
          title,
          name,
          isRate: kinds.get(name) !== "gauge",
        });
    }
  });

  it("selects and groups by labels that the metrics have", () => {
    const labels = documentedLabels();
    const wrong = 'sum by (model, scope) (rate(fairway_relay_tokens_total{job="a",group="b"}[1m]))';
    expect(unknownLabels(wrong, labels)).toEqual([`${wrong} {group}`, `${wrong} {scope}`]);
    expect(queries.flatMap(({ expr }) => unknownLabels(expr, labels))).toEqual([]);
    for (const { title, expr, legend } of queries) {
      const [, grouped] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
      if (grouped !== undefined) expect(grouped.split(", "), title).toEqual(expect.arrayContaining(listLabels(legend)));
    }
  });

  it("shows data in every panel, under the names of its legend", async () => {
    const empty = async () => {
      const titles = new Set<string>();
      for (const { title, expr, legend } of queries) {
        const [first] = await prometheus.query(fillVariables(expr));
        if (!first) titles.add(title);
        else for (const label of listLabels(legend)) expect(first.metric, title).toHaveProperty(label);
      }
      return [...titles];
    };
    await expect.poll(empty, { timeout: 60_000, interval: 1_000 }).toEqual(ABSENT);
  });

  it("offers the choices that there are", async () => {
    const offered: Record<string, readonly string[]> = {};
    for (const { name, type, definition = "" } of dashboard.templating.list) {
      if (type !== "query") continue;
      const [, series = "", label = ""] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? [];
      offered[name] = await prometheus.labelValues(fillVariables(series), label);
    }
    expect(offered).toEqual({
      namespace: ["models"],
      job: ["gateway"],
      model: ["gpt-4o-mini", "status-500"],
      channel: ["bad", "good"],
    });
  });
});
