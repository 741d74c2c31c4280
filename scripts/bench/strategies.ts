import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { CHANNEL_STRATEGIES, type ChannelStrategy } from "../../packages/wire/src/core/strategies.ts";
import { createChannel, createToken, setOptions, signIn } from "../../packages/testkit/src/api.ts";
import { startGateway } from "../../packages/testkit/src/gateway.ts";
import { startUpstream, type Recorded, type ScriptedAnswer } from "../../packages/testkit/src/upstream/index.ts";

const CALLS = 900;
const QUICK_CALLS = 60;
const CONNECTIONS = 16;
const FAST_MS = 20;
const SLOW_MS = 200;
/** The dying upstream answers like the fast one until a third of all calls are over, and then fails after this time. */
const FAILING_MS = 300;
const PLACES = ["fast", "slow", "dying"] as const;
/** The slow channel is the cheapest, which is what `cost` is for. */
const COST_RATIOS = { fast: 1, slow: 0.5, dying: 1 } as const;

interface Figures {
  readonly strategy: ChannelStrategy;
  readonly milliseconds: number[];
  failed: number;
  readonly served: Record<string, number>;
}

/**
 * `npm run bench -- --strategies`: how long plain calls take, how many fail and where they go, for each strategy with one
 * fast, one slow and one dying upstream of equal weight. Prints a table and writes nothing; `--quick` is a smoke run.
 */
export async function benchStrategies(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { strategies: flag, quick: flag } });
  const calls = values.quick ? QUICK_CALLS : CALLS;
  const upstream = await startUpstream();
  const gateway = await startGateway();
  try {
    const root = await signIn(gateway.url);
    const byModel = Object.fromEntries(CHANNEL_STRATEGIES.map((strategy) => [`bench-${strategy}`, strategy]));
    const options = { SelfUseModeEnabled: "true", RetryTimes: "2", ChannelStrategies: JSON.stringify(byModel) };
    await setOptions(root, options);
    const key = await createToken(root, { unlimited_quota: true });
    const rows: string[] = [];
    for (const strategy of CHANNEL_STRATEGIES) {
      const models = `bench-${strategy}`;
      for (const place of PLACES)
        await createChannel(root, {
          base_url: upstream.url,
          models,
          model_mapping: JSON.stringify({ [models]: place }),
          cost_ratio: COST_RATIOS[place],
        });
      const figures: Figures = { strategy, milliseconds: [], failed: 0, served: {} };
      let begun = 0;
      upstream.script("/chat/completions", (request) => answer(request, begun > calls / 3, figures));
      const worker = async () => {
        while (begun < calls) {
          begun += 1;
          await measureCall({ url: gateway.url, key, model: models }, figures);
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, worker));
      rows.push(formatRow(figures, calls));
    }
    console.log(
      `| Strategy | p50 ms | p95 ms | failed | fast | slow | dying |\n| --- | --- | --- | --- | --- | --- | --- |\n${rows.join("\n")}`,
    );
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

async function answer({ model }: Recorded, isDead: boolean, { served }: Figures): Promise<ScriptedAnswer> {
  served[model] = (served[model] ?? 0) + 1;
  const isFailing = model === "dying" && isDead;
  const usualMs = model === "slow" ? SLOW_MS : FAST_MS;
  await sleep(isFailing ? FAILING_MS : usualMs);
  if (isFailing) return { status: 503, body: { error: { message: "dying", type: "server_error" } } };
  const message = { role: "assistant", content: "Hello" };
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return { body: { id: "a", object: "chat.completion", model, created: 1, usage, choices } };
}

async function measureCall(
  { url, key, model }: { readonly url: string; readonly key: string; readonly model: string },
  figures: Figures,
): Promise<void> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.text();
  figures.milliseconds.push(performance.now() - startedAt);
  if (response.status !== 200) figures.failed += 1;
}

function formatRow({ strategy, milliseconds, failed, served }: Figures, calls: number): string {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const percentile = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? 0);
  const shares = PLACES.map((place) => `${Math.round(((served[place] ?? 0) / calls) * 100)} %`);
  return `| ${strategy} | ${percentile(0.5)} | ${percentile(0.95)} | ${failed} | ${shares.join(" | ")} |`;
}
