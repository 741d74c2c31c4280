// Providers that look for the code before they check the client: one of this file, which differs in what it says of
// itself. The nightly test of the second identity server has a real one.
import type { IdentityProviderTest } from "@fairway/wire";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startCompany, type Company } from "../../../test/kit/company.ts";

const SECRET = "the right secret";

let company: Company;
let server: Server;
let issuer = "";
/** What the discovery document says besides the addresses that every provider has. */
let more: Record<string, unknown> = {};
let revocation: { readonly status: number; readonly body?: object } | undefined;
const asked: string[] = [];

beforeAll(async () => {
  company = await startCompany();
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await company.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  asked.length = 0;
  revocation = undefined;
  more = {
    revocation_endpoint: `${issuer}/revoke`,
    revocation_endpoint_auth_methods_supported: ["client_secret_post"],
  };
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "";
  asked.push(path);
  const form = new URLSearchParams(await text(request));
  const send = (status: number, body: object = {}) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (path.endsWith("openid-configuration")) {
    const endpoints = { authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t`, jwks_uri: `${issuer}/k` };
    return send(200, { issuer, ...endpoints, ...more });
  }
  if (path === "/k") return send(200, { keys: [{ kty: "RSA", use: "sig" }] });
  if (path === "/t") return send(400, { error: "invalid_grant", error_description: "invalid code" });
  if (revocation) return send(revocation.status, revocation.body);
  return form.get("client_secret") === SECRET ? send(200) : send(401, { error: "invalid_client" });
}

async function check(secret: string, change: Record<string, unknown> = {}): Promise<string> {
  await company.setUp({ issuer, secret, ...change });
  const path = `/api/identity_provider/${company.provider.id}/test`;
  const found = await company.root.data<IdentityProviderTest>(company.root.post(path, { claims: {} }));
  const client = found.checks.find(({ name }) => name === "client");
  return `${client?.state} ${client?.detail}`.trim();
}

test("a wrong secret is found where the provider checks it before it ends a token", async () => {
  expect(await check("wrong")).toBe("failed invalid_client");
  expect(await check(SECRET)).toBe("passed");
});

test.each([
  ["a word about the token", { status: 400, body: { error: "invalid_token" } }, "passed"],
  ["a word about the proof", { status: 400, body: { error: "invalid_grant" } }, "failed invalid_grant"],
  ["a fault of its own", { status: 500, body: { error: "server_error" } }, "warning"],
])("a provider that answers with %s: %s", async (_what, given, outcome) => {
  revocation = given;
  expect(await check(SECRET)).toBe(outcome);
});

test.each([
  ["has no such address", () => ({})],
  ["names no method for it, which means the header", () => ({ revocation_endpoint: `${issuer}/revoke` })],
  [
    "takes another proof there",
    () => ({
      revocation_endpoint: `${issuer}/revoke`,
      revocation_endpoint_auth_methods_supported: ["private_key_jwt"],
    }),
  ],
])("a provider that %s is not asked to end a token", async (_what, document) => {
  more = document();
  expect(await check(SECRET)).toBe("passed");
  expect(asked).not.toContain("/revoke");
});

test("a client without a secret has nothing to prove", async () => {
  expect(await check("", { auth_method: "none" })).toBe("passed");
  expect(asked).not.toContain("/revoke");
});
