import { readFileSync } from "node:fs";

const REFERENCE = new URL("../../../docs/reference/metrics.md", import.meta.url);

/** Labels that Prometheus and its operator add, and the new names of our own labels `job` and `namespace`. */
const ADDED = ["namespace", "job", "instance", "pod", "exported_job", "exported_namespace", "le"];

/** Returns the labels of the gateway's metrics, by name, according to the generated reference. */
export function documentedLabels(): ReadonlyMap<string, readonly string[]> {
  const rows = [...readFileSync(REFERENCE, "utf8").matchAll(/^\| `(fairway_\w+)` \| \w+ \| ([^|]*) \|/gm)];
  return new Map(
    rows.map(([, name = "", list = ""]) => [name, [...list.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label)]),
  );
}

/** Returns the names of the metrics in a query, without the suffixes of histograms. */
export function metricsIn(expr: string): readonly string[] {
  const names = expr.match(/\b(?:fairway|nodejs|process)_\w+/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, "")))];
}

/** Returns labels that a query selects or groups by although none of its metrics has them, as `expression{label}`. */
export function unknownLabels(expr: string, labels: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const selected = [...expr.matchAll(/\b([a-z]\w*)\{([^}]*)\}/g)].flatMap(([, name = "", selector = ""]) =>
    [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = ""]) => [name, label] as const),
  );
  const names = metricsIn(expr);
  const grouped = [...expr.matchAll(/\b(?:by|on|group_left|group_right|without|ignoring)\s*\(([^)]*)\)/g)].flatMap(
    ([, list = ""]) => list.split(",").map((label) => label.trim()),
  );
  const has = (name: string, label: string) => labels.get(name.replace(/_(?:bucket|sum|count)$/, ""))?.includes(label);
  return [
    ...selected.filter(([name, label]) => !ADDED.includes(label) && !has(name, label)).map(([, label]) => label),
    ...grouped.filter((label) => label !== "" && !ADDED.includes(label) && !names.some((name) => has(name, label))),
  ].map((label) => `${expr} {${label}}`);
}
