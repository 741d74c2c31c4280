import { describe, expect, test } from "vitest";
import { createAffinity } from "./affinity.ts";

const HOUR = 3_600_000;

describe("affinity", () => {
  test("remembers the serving key for its lifetime, reports moves and follows other replicas", () => {
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
    affinity.applyRemote("b", { channelId: 3, keyIndex: 1 }, HOUR);
    expect(affinity.find("a")).toMatchObject({ channelId: 2 });
    expect(affinity.find("b")).toMatchObject({ channelId: 3, keyIndex: 1 });
    expect(moves).toEqual(["a>1", "a>2"]);
    affinity.applyRemote("c", { channelId: 4, keyIndex: 0 }, 500);
    expect(affinity.find("a")).toBeUndefined();
    now += 500;
    expect(affinity.find("c")).toBeUndefined();
    now += HOUR;
    expect(affinity.find("b")).toBeUndefined();
  });

  test("announces a long conversation again before other replicas forget it", () => {
    let now = 0;
    let announced = 0;
    const affinity = createAffinity({
      clock: { now: () => now },
      onAsked: () => undefined,
      onMove: () => void (announced += 1),
    });
    for (now = 0; now <= 2 * HOUR; now += HOUR / 8) affinity.served("a", { channelId: 1, keyIndex: 0 }, HOUR);
    expect(announced).toBe(4);
  });
});
