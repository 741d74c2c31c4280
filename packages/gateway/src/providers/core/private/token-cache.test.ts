import { describe, expect, it } from "vitest";
import { createTokenCache } from "./token-cache.ts";

describe("createTokenCache", () => {
  it("buys once for everybody who waits, again shortly before the end, and after a drop", async () => {
    const cache = createTokenCache(1000);
    let bought = 0;
    const buy = () => Promise.resolve({ token: `t${++bought}`, lifeMs: 10_000 });
    expect(await Promise.all([cache.get("s", 0, buy), cache.get("s", 0, buy)])).toEqual(["t1", "t1"]);
    expect(await cache.get("s", 8_999, buy)).toBe("t1");
    expect(await cache.get("s", 9_000, buy)).toBe("t2");
    cache.drop("s");
    expect(await cache.get("s", 9_000, buy)).toBe("t3");
    expect(await cache.get("other", 9_000, buy)).toBe("t4");
  });

  it("remembers no failure", async () => {
    const cache = createTokenCache(0);
    await expect(cache.get("s", 0, () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    expect(await cache.get("s", 0, () => Promise.resolve({ token: "t", lifeMs: 1 }))).toBe("t");
  });

  it("keeps tokens that live shorter than the margin for half of their life", async () => {
    const cache = createTokenCache(60_000);
    let bought = 0;
    const buy = () => Promise.resolve({ token: `t${++bought}`, lifeMs: 1000 });
    await cache.get("s", 0, buy);
    expect(await cache.get("s", 499, buy)).toBe("t1");
    expect(await cache.get("s", 500, buy)).toBe("t2");
  });
});
