import { describe, expect, it } from "vitest";
import { createKeys, selectShard, SHARDS, findHashTag } from "./keys.ts";

describe("keys", () => {
  const keys = createKeys("fairway:");

  it("of a user and its tokens carry the tag of the user's shard", () => {
    for (const userId of [1, 63, 64, 12_345]) {
      const shard = selectShard(userId);
      const all = [
        keys.user(userId),
        keys.token(userId, 99),
        keys.holds(shard),
        keys.seen(shard),
        keys.leases(shard),
        keys.charges(shard),
        keys.epoch(shard),
      ];
      expect(new Set(all).size).toBe(all.length);
      expect(new Set(all.map(findHashTag)).size).toBe(1);
      expect(all.every((key) => key.startsWith("fairway:{s"))).toBe(true);
    }
  });

  it("of shards have as many tags as there are shards", () => {
    const tags = Array.from({ length: SHARDS }, (_, shard) => findHashTag(keys.charges(shard)));
    expect(new Set(tags).size).toBe(SHARDS);
    expect(findHashTag(keys.installation)).toBe("all");
  });

  it("never lie under a prefix that would hide the tag", () => {
    for (const prefix of ["{x}:", "a}b", "a b", "a\n"]) expect(() => createKeys(prefix)).toThrow(RangeError);
  });
});
