import { describe, expect, it } from "vitest";
import { loadVectors, type Vector } from "./vectors/load.ts";
import { PENDING } from "./vectors/pending.ts";
import { runVector } from "./vectors/run.ts";

const vectors = loadVectors();

async function passes(vector: Vector): Promise<boolean> {
  try {
    await runVector(vector);
    return true;
  } catch {
    return false;
  }
}

describe("vectors", () => {
  const covered = vectors.filter(({ name }) => !PENDING.has(name));
  it.each(covered.map((vector) => [vector.name, vector] as const))("%s", async (_name, vector) => {
    await runVector(vector);
  });
});

describe("pending vectors", () => {
  it("are vectors that exist", () => {
    const names = new Set(vectors.map(({ name }) => name));
    expect([...PENDING].filter((name) => !names.has(name))).toEqual([]);
  });

  it.each([...PENDING])("%s does not pass yet", async (name) => {
    const vector = vectors.find((candidate) => candidate.name === name);
    if (vector === undefined) return;
    expect(await passes(vector), `${name} passes: take it off the list`).toBe(false);
  });
});
