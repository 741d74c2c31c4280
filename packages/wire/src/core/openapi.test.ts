import { describe, expect, it } from "vitest";
import * as wire from "../index.ts";
import type { Endpoint } from "./endpoint.ts";
import { openApiDocument } from "./openapi.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: unknown }[];
  readonly requestBody?: { readonly content: unknown };
  readonly responses: Record<string, unknown>;
  readonly security: readonly unknown[];
}

const endpoints = Object.values<unknown>(wire).filter(isEndpoint);
const document = openApiDocument(endpoints, { title: "Fairway", version: "1.0.0" });
const paths = document["paths"] as Record<string, Record<string, Operation>>;

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === "object" && value !== null && "access" in value && "method" in value;
}

describe("the OpenAPI document", () => {
  it("has every call once, with an answer and a permission", () => {
    for (const { method, path, access } of endpoints) {
      const operation = paths[path]?.[method.toLowerCase()];
      expect(operation?.responses["200"], path).toBeDefined();
      expect(operation?.security.length === 0, path).toBe(access === "none");
    }
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map((it) => it.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("offers no access token for calls that change credentials", () => {
    const security = (path: string) => JSON.stringify(paths[path]?.["post"]?.security);
    expect(security("/api/user/self/passkeys")).toBe('[{"session":[],"user":[]}]');
    expect(security("/api/token/")).toContain("accessToken");
  });

  it("names what query and path texts are read as", () => {
    const list = paths["/api/channel/"]?.["get"]?.parameters ?? [];
    expect(list.find(({ name }) => name === "p")).toEqual({
      name: "p",
      in: "query",
      required: false,
      schema: { type: "integer" },
    });
    expect(paths["/api/channel/{id}"]?.["get"]?.parameters).toEqual([
      { name: "id", in: "path", required: true, schema: { type: "integer", minimum: 1 } },
    ]);
  });

  it("declares every parameter of a path", () => {
    for (const [path, methods] of Object.entries(paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(methods)) {
        expect(parameters.filter((it) => it.in === "path").map(({ name }) => name)).toEqual(named);
      }
    }
  });

  it("offers If-Match where a stale edit is refused", () => {
    const header = expect.objectContaining({ name: "If-Match", in: "header", required: false }) as unknown;
    for (const path of ["user", "channel", "token", "redemption", "budget", "option"])
      expect(paths[`/api/${path}/`]?.["put"]?.parameters, path).toContainEqual(header);
    expect(paths["/api/channel/"]?.["post"]?.parameters).not.toContainEqual(header);
  });

  it("offers Idempotency-Key where a change counts once", () => {
    const header = expect.objectContaining({ name: "Idempotency-Key", in: "header", required: false }) as unknown;
    expect(paths["/api/user/manage"]?.["post"]?.parameters).toContainEqual(header);
    expect(paths["/api/topup"]?.["post"]?.parameters).toContainEqual(header);
    expect(paths["/api/user/"]?.["put"]?.parameters).not.toContainEqual(header);
  });

  it("joins calls that share method and path", () => {
    const update = paths["/api/token/"]?.["put"];
    expect(update?.parameters).toContainEqual(expect.objectContaining({ name: "status_only", required: false }));
    expect(JSON.stringify(update?.requestBody)).toContain("anyOf");
  });

  it("refers only to what it holds, and is plain JSON", () => {
    const text = JSON.stringify(document);
    expect(JSON.parse(text)).toEqual(document);
    const components = document["components"] as Record<string, Record<string, unknown>>;
    for (const [, kind = "", name = ""] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      expect(components[kind]?.[name], `${kind}/${name}`).toBeDefined();
    }
    expect(text).not.toContain("$schema");
    expect(text).not.toContain("#/$defs");
  });
});
