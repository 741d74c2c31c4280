import { AggregatorRegistry } from "prom-client";
import type { CollectedMetric, Exposition } from "./exposition.ts";

/** One text for several processes: values are added, or merged as their definition says. */
export async function mergeMetrics(parts: readonly (readonly CollectedMetric[])[]): Promise<Exposition> {
  const registry = AggregatorRegistry.aggregate([...parts]);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/**
 * What a process counted while it ran, added to what earlier ones counted. Without it a sum would fall when a process
 * ends, and Prometheus would take that for a restart and count everything again.
 */
export async function addCounters(
  before: readonly CollectedMetric[],
  ended: readonly CollectedMetric[],
): Promise<readonly CollectedMetric[]> {
  const counted = ended.filter(({ type }) => type === "counter" || type === "histogram");
  const registry = AggregatorRegistry.aggregate([[...before], counted]);
  return (await registry.getMetricsAsJSON()) as unknown as CollectedMetric[];
}
