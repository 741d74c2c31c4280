import { StartError } from "./storage.ts";
import type { Core } from "./core.ts";
import { headersIn } from "./tracing.ts";
import type { Elector } from "../jobs/leader.ts";
import type { ScheduledJob } from "../jobs/schedule.ts";
import type { DegradationStatus } from "../observability/degradation-status.ts";
import type { Destination } from "../resources/log-export/destination.ts";
import { createExporter, type Exporter } from "../resources/log-export/exporter.ts";
import { createSend } from "../lib/net/send.ts";
import { createHorizon } from "../lib/async/horizon.ts";
import { createOtlpDestination } from "../resources/log-export/otlp.ts";
import { createS3Destination } from "../resources/log-export/s3.ts";
import { areIdsInOrder } from "../storage/log-database.ts";
import { VERSION } from "../version.ts";

export interface LogExport {
  readonly jobs: readonly ScheduledJob[];
  /** Returns the lines of the leader for `/readyz?verbose`. */
  readonly listDegradations: () => readonly DegradationStatus[];
}

const EVERY_MS = 5_000;
/** The databases end a transaction that is idle for 60 s, or that waits for a lock for 10 s. */
const SETTLE_MS = 75_000;

/** Creates the log export. Throws StartError if a destination lacks a setting. */
export function composeLogExport(core: Core, elector: Elector): LogExport {
  const { storage, env, clock, log, metrics } = core;
  const { database, logDatabase: logs } = storage;
  const settleMs = areIdsInOrder(logs) ? 0 : SETTLE_MS;
  const elapsed = () => performance.now();
  const exporters = createDestinations(core).map((destination) =>
    createExporter({
      database,
      logs,
      destination,
      horizon: createHorizon(settleMs, elapsed),
      from: env.logExportFrom,
      clock,
      elapsed,
      log,
      metrics,
    }),
  );
  elector.subscribe((isLeader) => {
    if (!isLeader) for (const { name } of exporters) metrics.logExportLag(name, undefined);
  });
  return {
    jobs: exporters.map(createExportJob),
    listDegradations: () => (elector.isLeader ? exporters.flatMap(listExportDegradations) : []),
  };
}

function createDestinations({ env, clock, network }: Core): Destination[] {
  const send = createSend(network);
  const destinations: Destination[] = [];
  if (env.logExportOtlp !== undefined) {
    const headers = headersIn("FAIRWAY_LOG_EXPORT_OTLP_HEADERS", env.logExportOtlpHeaders);
    destinations.push(createOtlpDestination({ endpoint: env.logExportOtlp, headers, version: VERSION, send }));
  }
  if (env.logExportS3 !== undefined) {
    const { logExportS3: url, logExportS3Region: region, logExportS3KeyId: keyId, logExportS3Key: key } = env;
    if (keyId === "" || key === undefined)
      throw new StartError(
        "FAIRWAY_LOG_EXPORT_S3_URL needs an access key: set FAIRWAY_LOG_EXPORT_S3_KEY_ID and FAIRWAY_LOG_EXPORT_S3_KEY",
      );
    destinations.push(createS3Destination({ url, region, keyId, key, clock, send }));
  }
  return destinations;
}

function createExportJob({ name, run }: Exporter): ScheduledJob {
  return { name: `log-export-${name}`, everyMs: EVERY_MS, isLeaderOnly: true, run };
}

function listExportDegradations({ name, status }: Exporter): DegradationStatus[] {
  const current = status();
  return current ? [{ part: `log export to ${name}`, mode: name, ...current }] : [];
}
