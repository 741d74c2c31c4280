import { describe, expect, it } from "vitest";
import { loadVectors } from "./load.ts";
import { runVector } from "./run.ts";

const vectors = loadVectors();

describe("vectors", () => {
  it("are all here", () => {
    expect(vectors).toHaveLength(213);
  });

  it.each(vectors.map((vector) => [vector.name, vector] as const))("%s", async (_name, vector) => {
    await runVector(vector);
  });
});
