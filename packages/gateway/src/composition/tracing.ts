import type { Env } from "../config/env.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import type { Tracing } from "../observability/tracing/call-span.ts";
import { VERSION } from "../version.ts";
import { StartError } from "./storage.ts";

interface TracingDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Undefined where no collector is set: the packages of OpenTelemetry are not even loaded. */
export async function composeTracing({ env, clock, log }: TracingDeps): Promise<Tracing | undefined> {
  if (env.otlpEndpoint === undefined) return undefined;
  const headers = headersIn(env.otlpHeaders?.reveal() ?? "");
  const { startTracing } = await import("../observability/tracing/otlp.ts");
  return startTracing({
    endpoint: env.otlpEndpoint,
    headers,
    sample: env.traceSample,
    convention: env.genAiConvention,
    version: VERSION,
    instanceId: env.instanceId,
    clock,
    log,
  });
}

function headersIn(text: string): Readonly<Record<string, string>> {
  const pairs = text
    .split(",")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new StartError("FAIRWAY_OTLP_HEADERS: write name=value pairs separated by commas");
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}
