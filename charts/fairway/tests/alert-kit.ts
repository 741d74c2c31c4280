// What tests of alerts by their real cause share: the rules of the chart, calls, and what fires.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";
import { CHART } from "./helm.ts";
import type { Prometheus } from "./prometheus.ts";

interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}
type Rule = Readonly<Record<string, unknown>> & { readonly alert?: string; readonly expr: string };

/** Alert -> a limit of its rule and the lower one of the test, because no test waits an hour. */
export type Lowered = Readonly<Record<string, readonly [limit: string, lower: string]>>;

export const POLL = { timeout: 60_000, interval: 500 };

/** Returns the rules of the chart without the time for which they wait: what they see is tested here. */
export function readRules(lowered: Lowered = {}): Rules {
  const text = readFileSync(join(CHART, "files/rules.yaml"), "utf8").replaceAll("NAMESPACE", "models");
  const { groups } = parse(text) as Rules;
  const change = ({ for: _wait, ...rule }: Rule) => ({ ...rule, expr: lower(rule, lowered[rule.alert ?? ""]) }) as Rule;
  return { groups: groups.map(({ name, rules }) => ({ name, rules: rules.map(change) })) };
}

function lower({ alert, expr }: Rule, change: Lowered[string] | undefined): string {
  if (!change) return expr;
  if (!expr.includes(change[0])) throw new Error(`the rule of ${alert} has no limit ${change[0]}`);
  return expr.replace(...change);
}

export interface Caller {
  readonly url: string;
  readonly key: string;
  readonly signal?: AbortSignal;
}

/** Sends one call and reads its whole answer; returns the status. */
export async function callModel({ url, key, signal }: Caller, model: string, stream = false): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hi" }] }),
    ...(signal && { signal }),
  });
  await answer.text();
  return answer.status;
}

export async function listFiring(prometheus: Prometheus): Promise<readonly string[]> {
  const found = await prometheus.query('ALERTS{alertstate="firing"}');
  return found.map(({ metric }) => metric["alertname"] ?? "");
}

export async function untilFiring(prometheus: Prometheus, alert: string): Promise<void> {
  await expect.poll(() => listFiring(prometheus), POLL).toContain(alert);
}

/** Waits until Prometheus has a series: an increase counts from its first sample. */
export async function untilSeen(prometheus: Prometheus, series: string): Promise<void> {
  await expect.poll(() => prometheus.query(series), POLL).not.toEqual([]);
}
