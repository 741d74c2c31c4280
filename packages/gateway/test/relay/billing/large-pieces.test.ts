import { createToken, signIn } from "@fairway/testkit";
import { freshRedis } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chat, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const PASSWORD = "a-long-password";
const MODEL = "gpt-4o";

describe.each(["the database", "Redis"] as const)("streams of large pieces, balances in %s", (where) => {
  let gateway: RelayApp;
  let serial = 0;

  beforeAll(async () => {
    const redis = where === "Redis" ? await freshRedis({ isDurable: true }) : undefined;
    gateway = await startRelayApp(redis ? { FAIRWAY_REDIS_URL: redis.url } : {});
    await gateway.option("ModelRatio", JSON.stringify({ [MODEL]: 1 }));
    await gateway.option("CompletionRatio", JSON.stringify({ [MODEL]: 1 }));
    await gateway.channel(MODEL);
  }, 60_000);
  afterAll(() => gateway.close());
  beforeEach(() => gateway.upstream.reset());

  async function poor(quota: number) {
    const username = `poor${++serial}`;
    await gateway.root.must("POST", "/api/user/", { username, password: PASSWORD, display_name: username });
    const session = await signIn(gateway.url, username, PASSWORD);
    const user = await gateway.root.must<object>("GET", `/api/user/${session.userId}`);
    await gateway.root.must("PUT", "/api/user/", { ...user, password: "", quota });
    const left = async () => {
      await gateway.settled();
      return (await gateway.root.must<{ quota: number }>("GET", `/api/user/${session.userId}`)).quota;
    };
    return { key: await createToken(session), left };
  }

  async function streamed(key: string): Promise<string> {
    return (await gateway.post("/v1/chat/completions", chat(MODEL, { stream: true }), key)).text();
  }

  // @weakness Money: A stream delivers a piece that is larger than its reservation
  it("two of them with money for one end at zero or above, with an error event", async () => {
    writes(gateway, 10, 4_000);
    const { key, left } = await poor(30_000);
    const texts = await Promise.all([streamed(key), streamed(key)]);
    expect(await left()).toBeGreaterThanOrEqual(0);
    for (const text of texts) expect(text).toContain("insufficient_quota");
  });

  it("a piece that the balance does not cover is not delivered", async () => {
    writes(gateway, 1, 3_000);
    const { key, left } = await poor(1_500);
    const text = await streamed(key);
    expect(text).toContain("insufficient_quota");
    expect(text).not.toContain("word word");
    const rest = await left();
    expect(rest).toBeGreaterThan(1_300);
  });

  it("a piece that the balance covers is delivered whole and paid", async () => {
    writes(gateway, 3, 4_000);
    const { key, left } = await poor(30_000);
    const text = await streamed(key);
    expect(text).toContain("[DONE]");
    expect(text.match(/word/g)).toHaveLength(12_000);
    expect(30_000 - (await left())).toBe(12_010);
  });

  it("six of them on one hard budget use no more than it has", async () => {
    writes(gateway, 4, 2_000);
    const { id } = await gateway.root.must<{ id: number }>("POST", "/api/budget/", {
      scope: "model",
      subject: MODEL,
      period: "day",
      quota_limit: 30_000,
    });
    const { key } = await poor(1_000_000);
    await Promise.all(Array.from({ length: 6 }, () => streamed(key)));
    await gateway.settled();
    await expect
      .poll(() => gateway.root.must<{ used: number; held: number }>("GET", `/api/budget/${id}`))
      .toMatchObject({ held: 0 });
    const { used } = await gateway.root.must<{ used: number }>("GET", `/api/budget/${id}`);
    expect(used).toBeLessThanOrEqual(30_000);
    await gateway.root.must("DELETE", `/api/budget/${id}`);
  });
});

/** Makes the upstream send this many pieces with this many words, each a token, and its usage at the end. */
function writes(gateway: RelayApp, pieces: number, words: number): void {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: "c", created: 1, model: MODEL, object: "chat.completion.chunk", ...more })}\n\n`;
  const piece = chunk({
    choices: [{ index: 0, delta: { role: "assistant", content: "word ".repeat(words) }, finish_reason: null }],
  });
  const output = pieces * words;
  const usage = { prompt_tokens: 10, completion_tokens: output, total_tokens: 10 + output };
  const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) + chunk({ choices: [], usage });
  const events = [...Array.from({ length: pieces }, () => piece), `${end}data: [DONE]\n\n`];
  gateway.upstream.script("/chat/completions", () => ({
    headers: { "content-type": "text/event-stream" },
    body: events.join(""),
  }));
}
