import { describe, expect, test } from "vitest";
import { createPriceBook } from "../billing/price-book.ts";
import type { Price } from "../billing/price.ts";
import { conversationOf, createAffinity, type Spoken } from "./affinity.ts";
import { jsonBody } from "./read-body.ts";

const cached = { kind: "tokens", cacheRatio: 0.1 } as Price;
const spoken = (json: object, more: Partial<Spoken> = {}): Spoken => ({
  userId: 1,
  model: "m",
  body: jsonBody(Buffer.from(JSON.stringify(json))),
  session: undefined,
  price: undefined,
  ...more,
});

describe("the conversation of a request", () => {
  test("is what the client calls it", () => {
    const names = [
      conversationOf(spoken({ prompt_cache_key: "abc" })),
      conversationOf(spoken({ metadata: { user_id: "user_1_account__session_0f8fad5b-d9cb-469f-a165-70867728950e" } })),
      conversationOf(spoken({}, { session: "0f8fad5b" })),
    ];
    expect(new Set(names).size).toBe(3);
    expect(names).not.toContain(undefined);
    expect(conversationOf(spoken({ prompt_cache_key: "abc", messages: ["other"] }))).toBe(names[0]);
  });

  test("is nobody else's", () => {
    const mine = conversationOf(spoken({ prompt_cache_key: "abc" }));
    expect(conversationOf(spoken({ prompt_cache_key: "abc" }, { userId: 2 }))).not.toBe(mine);
    expect(conversationOf(spoken({ prompt_cache_key: "abc" }, { model: "other" }))).not.toBe(mine);
  });

  test("is its user or the beginning of a long prompt, where cached input is cheaper", () => {
    const long = "word ".repeat(2_000);
    expect(conversationOf(spoken({ user: "u" }))).toBeUndefined();
    expect(conversationOf(spoken({ user: "u" }, { price: cached }))).toBeDefined();
    const first = conversationOf(spoken({ messages: [long] }, { price: cached }));
    expect(first).toBeDefined();
    expect(conversationOf(spoken({ messages: [long, "and more"] }, { price: cached }))).toBe(first);
    expect(conversationOf(spoken({ messages: ["short"] }, { price: cached }))).toBeUndefined();
    expect(conversationOf(spoken({ messages: [long] }))).toBeUndefined();
  });

  test("is none for names that are no names", () => {
    for (const key of ["", 5, null, "x".repeat(513)])
      expect(conversationOf(spoken({ prompt_cache_key: key }))).toBeUndefined();
    for (const metadata of [null, "x", { user_id: 5 }, { user_id: "no" }])
      expect(conversationOf(spoken({ metadata }))).toBeUndefined();
  });

  test("current models with a price for cached input are told by the price book", () => {
    const price = createPriceBook().find("gpt-4o");
    expect(price?.kind === "tokens" && price.cacheRatio < 1).toBe(true);
  });
});

describe("affinity", () => {
  test("remembers for an hour who served, tells moves, and follows others", () => {
    let now = 1_000;
    const moves: string[] = [];
    const asked: boolean[] = [];
    const affinity = createAffinity({
      clock: { now: () => now },
      capacity: 2,
      onFind: (isHit) => void asked.push(isHit),
      onMove: (conversation, { channelId }) => void moves.push(`${conversation}>${channelId}`),
    });
    expect(affinity.find("a")).toBeUndefined();
    affinity.served("a", { channelId: 1, keyIndex: 0 });
    affinity.served("a", { channelId: 1, keyIndex: 0 });
    affinity.served("a", { channelId: 2, keyIndex: 0 });
    affinity.told("b", { channelId: 3, keyIndex: 1 });
    expect(affinity.find("a")).toMatchObject({ channelId: 2 });
    expect(affinity.find("b")).toMatchObject({ channelId: 3, keyIndex: 1 });
    expect(moves).toEqual(["a>1", "a>2"]);
    expect(asked).toEqual([false, true, true]);
    affinity.told("c", { channelId: 4, keyIndex: 0 });
    expect(affinity.find("a")).toBeUndefined();
    now += 3_600_000;
    expect(affinity.find("b")).toBeUndefined();
  });
});
