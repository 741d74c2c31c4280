import { AggregatorRegistry } from "prom-client";
import type { CollectedMetric, Exposition } from "./exposition.ts";

/** Merges the metrics of several processes: values are summed, or merged as their definition says. */
export async function mergeMetrics(parts: readonly (readonly CollectedMetric[])[]): Promise<Exposition> {
  const registry = AggregatorRegistry.aggregate([...parts]);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/**
 * Adds the counts of a process to those of earlier ones. Without it a sum would fall when a process exits, and
 * Prometheus would treat that as a restart and count everything again.
 */
export async function addCounters(
  before: readonly CollectedMetric[],
  ended: readonly CollectedMetric[],
): Promise<readonly CollectedMetric[]> {
  const counted = ended.filter(({ type }) => type === "counter" || type === "histogram");
  const registry = AggregatorRegistry.aggregate([[...before], counted]);
  return (await registry.getMetricsAsJSON()) as unknown as CollectedMetric[];
}
