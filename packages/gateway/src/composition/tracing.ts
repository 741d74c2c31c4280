import type { Env } from "../config/env.ts";
import { pairs } from "../config/parsers.ts";
import type { Clock } from "../lib/clock.ts";
import type { Network } from "../lib/net/network.ts";
import type { Secret } from "../lib/secret.ts";
import type { Logger } from "../observability/log.ts";
import type { Tracing } from "../observability/tracing/call-span.ts";
import { VERSION } from "../version.ts";
import { StartError } from "./storage.ts";

interface TracingDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Logger;
  readonly network: Network;
}

/** Returns undefined if no collector is set; the packages of OpenTelemetry are then not loaded. */
export async function composeTracing({ env, clock, log, network }: TracingDeps): Promise<Tracing | undefined> {
  if (env.otlpEndpoint === undefined) return undefined;
  const headers = headersIn("FAIRWAY_OTLP_HEADERS", env.otlpHeaders);
  const { startTracing } = await import("../observability/tracing/otlp.ts");
  return startTracing({
    endpoint: env.otlpEndpoint,
    headers,
    sample: env.traceSample,
    convention: env.genAiConvention,
    service: env.traceService,
    attributes: env.traceAttributes,
    version: VERSION,
    instanceId: env.instanceId,
    clock,
    log,
    findProxy: network.findProxy,
  });
}

/** Parses headers. Throws StartError. */
export function headersIn(variable: string, value: Secret | undefined): Readonly<Record<string, string>> {
  try {
    return pairs(value?.reveal() ?? "");
  } catch (error) {
    throw new StartError(`${variable}: ${(error as Error).message}`);
  }
}
