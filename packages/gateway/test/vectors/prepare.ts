import { dropToken } from "../../src/providers/vendors/baidu/token.ts";
import { providerByType } from "../../src/providers/registry.ts";
import type { Vector } from "./load.ts";
import { createChannelRecord } from "./run-relay.ts";

/** Brings what a provider remembers into the state that a vector starts from. */
export async function prepare(vector: Vector): Promise<void> {
  if (!vector.name.startsWith("baidu-v1-")) return;
  const channel = createChannelRecord(vector);
  const key = channel.keys[0] ?? "";
  dropToken(channel, key);
  const first = vector.steps[0]?.request.url;
  const stale = first === undefined ? null : new URL(first).searchParams.get("access_token");
  if (stale === null) return;
  const answer = { access_token: stale, expires_in: 2_592_000 };
  const call = { method: "POST" as const, url: new URL("https://aip.baidubce.com/"), headers: {}, body: undefined };
  const http = () => Promise.resolve({ status: 200, json: answer, text: JSON.stringify(answer) });
  await providerByType(vector.type)?.authorize(call, channel, { key, now: vector.now, http, clientHeaders: {} });
}
