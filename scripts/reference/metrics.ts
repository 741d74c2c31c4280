import { METRICS } from "../../packages/gateway/src/observability/metric-definitions.ts";
import { code, page, table } from "./markdown.ts";

export function metrics(): string {
  const rows = METRICS.map(({ name, type, help, labels }) => [code(name), type, labels.map(code).join(", "), help]);
  return page(
    "Metrics",
    "packages/gateway/src/observability/metric-definitions.ts",
    "Served at `/metrics` of the admin listener (`FAIRWAY_ADMIN_PORT`), next to the `process_*` and `nodejs_*` metrics of the runtime. Labels are bounded: `model` is a configured name or `other`, and no user, key or address is ever a label.",
    table(["Metric", "Kind", "Labels", "What it counts"], rows),
  );
}
