// The cost of conversions, long streams and counting: one gateway, one upstream that supports only chat, four clients.
import { createChannel, createToken, setModelRatios, signIn } from "../../src/api.ts";
import { startGateway } from "../../src/gateway.ts";
import { freePort } from "../../src/services.ts";
import { measureChunkDelays, type Delays } from "./chunk-delays.ts";
import { measureConversions, type ConversionCost } from "./conversions.ts";
import { Inspector } from "../inspector.ts";
import { measureLongStreams, type LongStream } from "./long-streams.ts";
import { longModels, type StreamBench } from "./plan.ts";
import { BUNDLE, WIDE_LIMITS, type System } from "../systems.ts";

export interface StreamFigures {
  readonly conversions: readonly ConversionCost[];
  readonly long: readonly LongStream[];
  readonly delays: Delays;
}

/** An OpenAI-compatible server that supports only chat. */
export const COMPATIBLE = 1005;

export async function runStreams(bench: StreamBench): Promise<StreamFigures> {
  const inspectPort = await freePort();
  const nodeArgs = [`--inspect=127.0.0.1:${inspectPort}`];
  const gateway = await startGateway({ program: BUNDLE, env: WIDE_LIMITS, nodeArgs });
  try {
    const key = await prepare(gateway.url, bench);
    const system: System = {
      name: "fairway, SQLite",
      about: "",
      port: Number(new URL(gateway.url).port),
      key,
      gatewayPid: gateway.pid,
      stop: async () => {},
    };
    const conversions = await measureConversions(system, bench);
    const inspector = await Inspector.connect(inspectPort);
    const delays = await measureChunkDelays(system, inspector, bench);
    const long = await measureLongStreams(system, inspector, bench);
    inspector.close();
    return { conversions, long, delays };
  } finally {
    await gateway.stop();
  }
}

async function prepare(url: string, { plan, upstream }: StreamBench): Promise<string> {
  const root = await signIn(url);
  const { fast, resting } = longModels(plan);
  const models = ["bench-51-0", "bench-51-10", "bench-400-5-stamped", "bench-1024-0-silent", fast, resting];
  await setModelRatios(root, Object.fromEntries(models.map((model) => [model, 0.001])));
  await createChannel(root, { name: "bench", type: COMPATIBLE, base_url: upstream.url, models: models.join(",") });
  return createToken(root, { name: "bench", unlimited_quota: false, remain_quota: 50_000_000 });
}
