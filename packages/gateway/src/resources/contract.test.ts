import * as wire from "@fairway/wire";
import { isSecretOption, OPTION_KEYS, type Access, type Endpoint } from "@fairway/wire";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../test/kit/management-app.ts";
import { accountRow } from "../identity/accounts/accounts.ts";

const exported: unknown[] = Object.values(wire);
const endpoints = exported.filter(
  (value): value is Endpoint => typeof value === "object" && value !== null && "access" in value && "method" in value,
);

const CANARY = "canary-7e1f0c";
const password = `${CANARY}-password`;
const channelKey = `sk-${CANARY}-channel`;

let app: ManagementApp;
const callers: Partial<Record<"user" | "admin" | "root", ApiCaller>> = {};
let accessToken = "";

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  const root = await app.signIn("root");
  const passwordHash = await app.identity.passwords.hash(password);
  for (const [username, role] of [
    ["ursula", 1],
    ["alice", 10],
  ] as const) {
    await app.database.db
      .insertInto("users")
      .values(accountRow({ username, passwordHash, createdAt: 1, role }))
      .execute();
  }
  callers.root = root;
  callers.user = await app.signIn("ursula", password);
  callers.admin = await app.signIn("alice", password);
  accessToken = await root.data<string>(root.get("/api/user/token"));
  const secrets = OPTION_KEYS.filter(isSecretOption).map((key) => ({ key, value: `${CANARY}-${key}` }));
  await root.data(root.put("/api/option/batch", secrets));
  const channel = { name: "one", type: 1, key: channelKey, models: "gpt-4o", group: "default" };
  await root.data(root.post("/api/channel/", channel));
});
afterAll(() => app.close());

function buildPath({ path }: Endpoint): string {
  return path.replace(/\{\w+\}/g, "1");
}

function call(caller: ApiCaller, endpoint: Endpoint) {
  const body = endpoint.body === undefined ? {} : { body: {} };
  return caller.call(endpoint.method, buildPath(endpoint), body);
}

const guarded = (access: Access) =>
  endpoints.filter((endpoint) => endpoint.access === access && endpoint.answer !== "stream");

describe("the contract", () => {
  test("has every call implemented once: none is an unknown URL", async () => {
    expect(endpoints.length).toBeGreaterThan(80);
    const unknown: string[] = [];
    for (const endpoint of endpoints) {
      const reply = await call(app.anonymous(), endpoint);
      if (reply.body["code"] === "G6") unknown.push(endpoint.name);
    }
    expect(unknown).toEqual([]);
  });

  test("refuses callers that are not signed in", async () => {
    for (const access of ["user", "admin", "root"] as const) {
      for (const endpoint of guarded(access)) {
        const reply = await call(app.anonymous(), endpoint);
        expect({ name: endpoint.name, status: reply.status, code: reply.body["code"] }).toEqual({
          name: endpoint.name,
          status: 401,
          code: "AU1",
        });
      }
    }
  });

  test("refuses callers whose role is too low before it reads the input", async () => {
    const tooLow = [
      ...guarded("admin").map((one) => ["user", one] as const),
      ...guarded("root").flatMap((one) => [["user", one] as const, ["admin", one] as const]),
    ];
    for (const [role, endpoint] of tooLow) {
      const caller = callers[role];
      if (!caller) throw new Error("no caller is signed in");
      const reply = await call(caller, endpoint);
      expect({ name: endpoint.name, status: reply.status, code: reply.body["code"] }).toEqual({
        name: endpoint.name,
        status: 200,
        code: "AU7",
      });
    }
  });

  test("shows no password, access token, secret option or channel key in any answer", async () => {
    const reads = endpoints.filter(
      ({ method, hasEffects, answer, access }) =>
        method === "GET" && !hasEffects && answer !== "stream" && access !== "key",
    );
    const seen: string[] = [];
    for (const caller of [app.anonymous(), ...Object.values(callers)]) {
      for (const endpoint of reads) {
        const { text } = await call(caller, endpoint);
        if (text.includes(CANARY) || text.includes(accessToken) || text.includes("$argon2")) seen.push(endpoint.name);
      }
    }
    expect(seen).toEqual([]);
  });
});
