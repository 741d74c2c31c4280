// A real OpenTelemetry Collector: it takes what the gateway sends over OTLP/HTTP, and sends it on as JSON to a server
// of the test. What it cannot read it refuses, as it does in production.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGuard } from "../src/services/guard.ts";
import { freePort } from "../src/services/process.ts";
import { ProcessHost } from "./process-host.ts";
import { buildPrograms } from "./programs.ts";

export interface Collector {
  /** Base address for OTLP over HTTP. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a collector that sends traces to `/v1/traces` below `target`. */
export async function startCollector(target: string): Promise<Collector> {
  const programs = await buildPrograms("collector");
  const folder = await mkdtemp(join(tmpdir(), "fairway-collector-"));
  const guard = createGuard(folder);
  const host = new ProcessHost(join(folder, "log"));
  const stop = async () => {
    await host.close();
    guard.disarm();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const port = await freePort();
    const file = join(folder, "config.json");
    await writeFile(file, JSON.stringify(buildConfig(port, target)));
    host.start("collector", join(programs, "collector"), ["--config", file]);
    const url = `http://127.0.0.1:${port}`;
    await host.until(60, "collector", async () => (await fetch(`${url}/v1/traces`)).status === 405);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** JSON is YAML, which the collector reads. */
function buildConfig(port: number, target: string): object {
  const sending_queue = { enabled: false };
  return {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { otlphttp: { endpoint: target, encoding: "json", compression: "none", sending_queue } },
    service: {
      telemetry: { metrics: { level: "none" } },
      pipelines: { traces: { receivers: ["otlp"], exporters: ["otlphttp"] } },
    },
  };
}
