import { MESSAGES_ANSWER } from "@fairway/testkit/messages-answer";
import type { BetaAnswer, LearnedFilter } from "@fairway/wire";
import { describe, expect, it } from "vitest";
import { learnedNames, learnNames, listLearned } from "../../../src/relay/conversion/learned-filters.ts";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const DAY = 86_400;

const refused = (message: string) => ({
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message } },
});

async function ask(model: string, body: object): Promise<number> {
  const request = { model, max_tokens: 64, messages: [{ role: "user", content: "hi" }], ...body };
  return (await relay.gateway.post("/v1/messages", request, relay.key)).status;
}

/** Refuses each member that begins with `new_`, one at a time. */
function refuseNewMembers(): void {
  relay.gateway.upstream.script("/v1/messages", ({ json }) => {
    const [found] = Object.keys(json ?? {}).filter((name) => name.startsWith("new_"));
    return found === undefined ? { body: MESSAGES_ANSWER } : refused(`${found}: Extra inputs are not permitted`);
  });
}

const filters = (id: number) => relay.gateway.root.must<LearnedFilter[]>("GET", `/api/channel/${id}/filters`);
const forget = (id: number, query = "") =>
  relay.gateway.root.must<number>("DELETE", `/api/channel/${id}/filters${query}`);

describe("names that a host refused", () => {
  it("are listed with host, model and the time that they hold, and sent again once they are forgotten", async () => {
    const id = await relay.gateway.channel("claude-a,claude-b", { type: 14 });
    expect(await filters(id)).toEqual([]);
    refuseNewMembers();
    expect(await ask("claude-b", { new_one: 1 })).toBe(200);
    expect(await ask("claude-a", { new_one: 1 })).toBe(200);
    expect(await ask("claude-a", { new_two: 1 })).toBe(200);
    const listed = await filters(id);
    expect(listed.map(({ host, model, name }) => [host, model, name])).toEqual([
      ["anthropic", "claude-a", "new_one"],
      ["anthropic", "claude-a", "new_two"],
      ["anthropic", "claude-b", "new_one"],
    ]);
    for (const { since, until } of listed) {
      expect(Math.abs(since - Date.now() / 1000)).toBeLessThan(60);
      expect(until - since).toBe(DAY);
    }
    expect(await forget(id, "?model=claude-a&name=new_two")).toBe(1);
    expect(await filters(id)).toHaveLength(2);
    expect(await forget(id)).toBe(2);
    expect(await forget(id)).toBe(0);
    expect(await filters(id)).toEqual([]);
    const before = relay.gateway.upstream.requests.length;
    await ask("claude-a", { new_one: 1 });
    expect(relay.gateway.upstream.requests.slice(before).map(({ json }) => json?.["new_one"])).toEqual([1, undefined]);
  });

  it("of an unknown channel are refused", async () => {
    const answer = await relay.gateway.root.call("GET", "/api/channel/987654/filters");
    expect(answer).toMatchObject({ success: false, message: "Channel does not exist." });
  });

  it("are at most 200 over all channels, each for a day of its own", () => {
    const channel = { id: 4_000_000, baseUrl: "https://host.example" };
    const start = Date.now() + 1_000;
    const learn = (name: string, after: number) =>
      learnNames(channel, { host: "other", model: "m", names: [name] }, start + after);
    for (let at = 0; at < 250; at += 1) expect(learn(`member_${at}`, at)).toBe(true);
    const held = listLearned(channel, start + 250);
    expect(held).toHaveLength(200);
    expect(held.map(({ since }) => since).toSorted((a, b) => a - b)[0]).toBe(start + 50);
    expect(learn("member_249", 260)).toBe(false);
    expect(learnedNames(channel, "m", start + 248 + DAY * 1000)).toEqual(new Set(["member_249"]));
    expect(learnedNames({ ...channel, baseUrl: "https://other.example" }, "m", start + 260)).toBeUndefined();
  });
});

interface Probed {
  readonly ok: boolean;
  readonly message: string;
  readonly host: string;
  readonly model: string;
  readonly betas: readonly BetaAnswer[];
}

const probe = (id: number, body: object = {}) =>
  relay.gateway.root.must<Probed>("POST", `/api/channel/${id}/betas`, body);

describe("a test of beta flags", () => {
  it("requests each known flag alone, and shows what the host takes next to what clients' calls are sent with", async () => {
    const id = await relay.gateway.channel("claude-sonnet-4-6", { type: 33, key: "us-east-1|test" });
    relay.gateway.upstream.script("/invoke", ({ json }) => {
      const [flag, ...more] = (json?.["anthropic_beta"] ?? []) as string[];
      expect(more).toEqual([]);
      if (flag === "mcp-client-2025-04-04") return { status: 503, body: { message: "try later" } };
      const isTaken = flag === undefined || /^(?:tool-search|effort|claude-code)-/.test(flag);
      return isTaken ? { body: MESSAGES_ANSWER } : { status: 400, body: { message: "invalid beta flag" } };
    });
    const { betas, ...rest } = await probe(id);
    expect(rest).toEqual({ ok: true, message: "", host: "bedrock-invoke", model: "claude-sonnet-4-6" });
    const found = new Map(betas.map(({ name, ...one }) => [name, one]));
    expect(betas.length).toBeGreaterThan(25);
    expect(relay.gateway.upstream.requests.length).toBe(betas.length + 1);
    expect(found.get("effort-2025-11-24")).toEqual({ answer: "taken", message: "", sent_as: "effort-2025-11-24" });
    expect(found.get("claude-code-20250219")).toEqual({ answer: "taken", message: "", sent_as: "" });
    expect(found.get("advanced-tool-use-2025-11-20")).toEqual({
      answer: "refused",
      message: "invalid beta flag",
      sent_as: "tool-search-tool-2025-10-19",
    });
    expect(found.get("mcp-client-2025-04-04")).toMatchObject({ answer: "failed", sent_as: "" });
    expect(await filters(id)).toEqual([]);
  });

  it("requests no flag where the host does not answer without one", async () => {
    const id = await relay.gateway.channel("claude-sonnet-4-5", { type: 14 });
    relay.gateway.upstream.script("/v1/messages", () => refused("no such model"));
    const before = relay.gateway.upstream.requests.length;
    expect(await probe(id)).toMatchObject({ ok: false, message: "no such model", betas: [] });
    expect(relay.gateway.upstream.requests).toHaveLength(before + 1);
  });

  it("is refused for a channel without beta flags", async () => {
    const id = await relay.gateway.channel("gpt-none", { type: 1 });
    const answer = await relay.gateway.root.call("POST", `/api/channel/${id}/betas`, {});
    expect(answer).toMatchObject({
      success: false,
      message: "This channel takes no beta flags: its type or its protocol has none.",
    });
  });
});
