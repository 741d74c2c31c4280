import { createDatabase } from "@fairway/testkit/databases";
import * as wire from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";

let app: ManagementApp;
beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
});
afterAll(() => app.close());

test("everyone can read what the server can be asked, and every call of the contract is there", async () => {
  const reply = await app.anonymous().get("/api/openapi.json");
  expect(reply.status).toBe(200);
  const { openapi, paths } = reply.body as { openapi: string; paths: Record<string, Record<string, unknown>> };
  expect(openapi).toBe("3.1.0");
  const missing = Object.values<unknown>(wire)
    .filter(isEndpoint)
    .filter(({ method, path }) => paths[path]?.[method.toLowerCase()] === undefined)
    .map(({ name }) => name);
  expect(missing).toEqual([]);
});

function isEndpoint(value: unknown): value is wire.Endpoint {
  return typeof value === "object" && value !== null && "access" in value && "method" in value;
}
