import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { DEFINITIONS, SHORT, type MetricDefinition } from "./metric-definitions.ts";

/** The metrics of a process, by their names in the program. */
export type Objects = { readonly [K in keyof typeof DEFINITIONS]: ObjectOf<(typeof DEFINITIONS)[K]["type"]> };
type ObjectOf<T> = T extends "counter" ? Counter : T extends "gauge" ? Gauge : Histogram;

export function createObjects(registry: Registry): Objects {
  const objects = Object.entries<MetricDefinition>(DEFINITIONS).map(
    ([key, { name, type, help, labels, buckets, aggregator }]) => {
      const settings = {
        name,
        help,
        labelNames: [...labels],
        registers: [registry],
        ...(aggregator && { aggregator }),
      };
      if (type === "histogram") return [key, new Histogram({ ...settings, buckets: [...(buckets ?? SHORT)] })];
      return [key, type === "counter" ? new Counter(settings) : new Gauge(settings)];
    },
  );
  return Object.fromEntries(objects) as Objects;
}
