import { describe, expect, it } from "vitest";
import { BodyMemory } from "./body-memory.ts";

describe("BodyMemory", () => {
  it("refuses a body that does not fit with the others, and accepts it once they are released", () => {
    const memory = new BodyMemory(100);
    const [first, second] = [{}, {}];
    memory.take(first, 60);
    memory.take(second, 30);
    expect(() => memory.take(second, 20)).toThrow(
      expect.objectContaining({ code: "bodies_full", retryAfterMs: 1_000 }),
    );
    memory.release(first);
    memory.take(second, 20);
    expect(memory.used).toBe(50);
    memory.release(second);
    memory.release(second);
    expect(memory.used).toBe(0);
  });

  it("lets a single body in, however large it is", () => {
    const memory = new BodyMemory(100);
    memory.take({}, 1_000);
    expect(memory.used).toBe(1_000);
  });

  it("releases parsed values while the bytes are still in use", () => {
    const memory = new BodyMemory(1_000_000);
    const holder = {};
    memory.take(holder, 60);
    memory.takeValues(holder, 10);
    expect(memory.used).toBeGreaterThan(60);
    memory.releaseValues(holder);
    memory.releaseValues(holder);
    expect(memory.used).toBe(60);
    memory.release(holder);
    memory.releaseValues(holder);
    expect(memory.used).toBe(0);
  });
});
