import { describe, expect, test } from "vitest";
import { createAffinity } from "./affinity.ts";

const HOUR = 3_600_000;

describe("affinity", () => {
  test("remembers who served for as long as it is told, tells moves, and follows others", () => {
    let now = 1_000;
    const moves: string[] = [];
    const affinity = createAffinity({
      clock: { now: () => now },
      capacity: 2,
      onAsked: () => undefined,
      onMove: (conversation, { channelId }) => void moves.push(`${conversation}>${channelId}`),
    });
    expect(affinity.find("a")).toBeUndefined();
    affinity.served("a", { channelId: 1, keyIndex: 0 }, HOUR);
    affinity.served("a", { channelId: 1, keyIndex: 0 }, HOUR);
    affinity.served("a", { channelId: 2, keyIndex: 0 }, HOUR);
    affinity.told("b", { channelId: 3, keyIndex: 1 }, HOUR);
    expect(affinity.find("a")).toMatchObject({ channelId: 2 });
    expect(affinity.find("b")).toMatchObject({ channelId: 3, keyIndex: 1 });
    expect(moves).toEqual(["a>1", "a>2"]);
    affinity.told("c", { channelId: 4, keyIndex: 0 }, 500);
    expect(affinity.find("a")).toBeUndefined();
    now += 500;
    expect(affinity.find("c")).toBeUndefined();
    now += HOUR;
    expect(affinity.find("b")).toBeUndefined();
  });

  test("a long conversation is told again, so that others do not forget it", () => {
    let now = 0;
    let told = 0;
    const affinity = createAffinity({
      clock: { now: () => now },
      onAsked: () => undefined,
      onMove: () => void (told += 1),
    });
    for (now = 0; now <= 2 * HOUR; now += HOUR / 8) affinity.served("a", { channelId: 1, keyIndex: 0 }, HOUR);
    expect(told).toBe(4);
  });
});
