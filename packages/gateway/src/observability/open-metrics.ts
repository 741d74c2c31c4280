// The OpenMetrics text format. The library permanently renames counters when it writes this format, which breaks the
// plain format.
import type { Exemplars } from "./exemplars.ts";
import type { CollectedMetric, Exposition } from "./exposition.ts";

const CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const NAME = "application/openmetrics-text";

interface Sample {
  readonly metricName?: string;
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Returns the OpenMetrics text of all metrics, with exemplars on buckets of histograms. */
export function openMetrics(metrics: readonly CollectedMetric[], exemplars: Exemplars): Exposition {
  return { contentType: CONTENT_TYPE, text: `${metrics.map((one) => formatFamily(one, exemplars)).join("")}# EOF\n` };
}

function formatFamily({ name, type, help, values }: CollectedMetric, exemplars: Exemplars): string {
  const family = type === "counter" ? name.replace(/_total$/, "") : name;
  const lines = [`# HELP ${family} ${escaped(help)}`, `# TYPE ${family} ${type}`];
  for (const { metricName = name, labels = {}, value } of values as readonly Sample[]) {
    const sample = type === "counter" ? `${family}_total` : metricName;
    const exemplar = metricName === `${name}_bucket` ? exemplars.find(name, labels) : undefined;
    const found = exemplar && ` # {trace_id="${exemplar.traceId}"} ${number(exemplar.value)} ${exemplar.at}`;
    lines.push(`${sample}${formatLabels(labels)} ${number(value)}${found ?? ""}`);
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Formats labels. Bounds are written as in the plain format, so a scraper that changes the format continues its series.
 */
function formatLabels(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(String(value)).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function number(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

/** Returns true if the scraper prefers this format; `*` alone does not express a preference. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  let [open, plain] = [0, 0];
  for (const part of (accept ?? "").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((one) => one.trim());
    const quality = parameters.find((one) => one.startsWith("q="))?.slice(2);
    const weight = quality === undefined ? 1 : Number(quality) || 0;
    if (name === NAME) open = Math.max(open, weight);
    if (name === "text/plain") plain = Math.max(plain, weight);
  }
  return open > 0 && open >= plain;
}
