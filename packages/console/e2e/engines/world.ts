import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
  type Session,
} from "@fairway/testkit";
import { insertRows } from "../rows.ts";
import { insertFailures, insertTraffic } from "../traffic-rows.ts";

/** A gateway with a day of traffic, as the tasks of operators find it. */
export interface World {
  readonly url: string;
  readonly root: Session;
  /** Makes one call of a model, which an upstream answers. */
  call(model: string): Promise<void>;
  close(): Promise<void>;
}

export const CHANNELS = ["quick", "slow", "broken", "brand new"] as const;
/** What the calls of a group cost this week, by model. */
export const SPENT = { "claude-opus-5": 70_000, "gpt-5.6": 30_000 } as const;
const HOUR = 3_600;

export async function openWorld(): Promise<World> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "fairway-engines-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "fairway.db");
  const upstream = await startUpstream();
  opened.defer(() => upstream.stop());
  const gateway = await startGateway({ database: `sqlite:${file}` });
  opened.defer(async () => void (await gateway.stop()));
  const root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  for (const name of CHANNELS)
    await createChannel(root, { name, base_url: upstream.url, models: "gpt-4o,gpt-4o-mini" });
  await setOptions(root, { ModelRatio: '{"gpt-4o":1}', CompletionRatio: '{"gpt-4o":4}', CacheRatio: "{}" });
  await root.must("PUT", "/api/channel/", { id: 1, priority: 7 });
  insertTraffic(file);
  insertFailures(file);
  insertRows(file, "logs", listResearch());
  const key = await createToken(root, { unlimited_quota: true });
  const all = opened.move();
  return {
    url: gateway.url,
    root,
    async call(model) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "What did this cost?" }] }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`the call was answered with ${answer.status}: ${text}`);
    },
    close: () => all.disposeAsync(),
  };
}

/** Returns ten calls of a group, three of them with another model. */
function listResearch() {
  const now = Math.floor(Date.now() / 1000);
  return Array.from({ length: 10 }, (_, at) => ({
    user_id: 1,
    username: "root",
    created_at: now - HOUR - at * 2 * HOUR,
    type: 2,
    model_name: at < 3 ? "gpt-5.6" : "claude-opus-5",
    token_name: "nightly",
    token_id: 2,
    group: "research",
    channel_id: 1,
    quota: 10_000,
    prompt_tokens: 100,
    completion_tokens: 20,
    use_time: 1,
    is_stream: 0,
    content: "",
    ip: "",
    request_id: `research-${at}`,
    other: "",
  }));
}
