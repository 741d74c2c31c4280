import { describe, expect, it } from "vitest";
import { allProviders, modelsByType, findModelOwner, providerByType } from "./registry.ts";

/** The types in the seeds' list, and the types that later compatible gateways added. */
const TYPES = [
  1, 2, 3, 4, 5, 8, 11, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 31, 33, 34, 35, 36, 37, 38, 39, 40, 41,
  42, 43, 44, 45, 46, 47, 48, 49, 50, 50,
];

describe("registry", () => {
  it("holds every type once, under one id", () => {
    const types = allProviders.map((provider) => provider.type);
    expect(new Set(types).size).toBe(types.length);
    expect(new Set(allProviders.map((provider) => provider.id)).size).toBe(types.length);
    expect(TYPES.filter((type) => providerByType(type) === undefined)).toEqual([]);
    expect([1001, 1002, 1003, 1004].map((type) => providerByType(type)?.id)).toEqual([
      "groq",
      "together",
      "fireworks",
      "github",
    ]);
  });

  it("offers routes for everything that is no task", () => {
    expect(allProviders.filter((provider) => provider.speaks.length === 0 && !provider.isTask)).toEqual([]);
  });

  it("has a bridge for every private dialect, and a dialect for every bridge", () => {
    for (const { id, speaks, bridges = [] } of allProviders) {
      const spoken = new Set(speaks.map((route) => route.dialect).filter((dialect) => dialect.startsWith("private:")));
      expect([id, [...spoken].sort()]).toEqual([id, bridges.map((bridge) => bridge.upstream).sort()]);
    }
  });

  it("lists models for vendors and none for knowledge bases", () => {
    expect(modelsByType().get(1)).toContain("gpt-4o");
    expect([21, 22, 37].map((type) => modelsByType().get(type))).toEqual([[], [], []]);
    expect(modelsByType().get(8)).toEqual(modelsByType().get(1));
    for (const models of modelsByType().values()) expect(new Set(models).size).toBe(models.length);
  });

  it("knows who owns a model", () => {
    expect(findModelOwner("gpt-4o")).toBe("openai");
    expect(findModelOwner("claude-opus-5")).toBe("claude");
    expect(findModelOwner("mj_imagine")).toBe("midjourney");
    expect(findModelOwner("my-own")).toBe("custom");
  });
});
