import { describe, expect, it } from "vitest";
import * as wire from "../index.ts";
import type { Endpoint } from "./endpoint.ts";

const exported: [string, unknown][] = Object.entries(wire);
const named = exported.filter((entry): entry is [string, Endpoint] => isEndpoint(entry[1]));
const endpoints = named.map(([, value]) => value);

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === "object" && value !== null && "access" in value && "method" in value;
}

describe("endpoints", () => {
  it("have distinct names that match their export", () => {
    for (const [name, value] of named) expect(value.name).toBe(name);
    expect(new Set(endpoints.map(({ name }) => name)).size).toBe(endpoints.length);
  });

  it("declare a schema for every path parameter", () => {
    for (const { name, path, params } of endpoints) {
      expect({ name, hasParams: params !== undefined }).toEqual({ name, hasParams: path.includes("{") });
    }
  });

  it("take no body with GET, and live under /api", () => {
    for (const { name, method, body, path } of endpoints) {
      const takesBody = method === "GET" && body !== undefined;
      expect({ name, takesBody, isApi: path.startsWith("/api/") }).toEqual({ name, takesBody: false, isApi: true });
    }
  });

  it("mark GETs that change state", () => {
    expect(endpoints.filter(({ hasEffects }) => hasEffects).map(({ path }) => path)).toContain("/api/user/token");
  });
});
