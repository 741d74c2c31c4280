import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

/** Weaknesses of other servers of this kind that no other test keeps out; the whole list is docs/reference/weaknesses.md. */

const CODE = 'http://images.example/a.png","key":"stolen","x":"';

let gateway: RelayApp;
let key = "";
beforeAll(async () => {
  gateway = await startRelayApp({});
  key = await gateway.token();
  await gateway.option("ServerAddress", gateway.url);
});
afterAll(() => gateway.close());

describe("requests to the worker", () => {
  // @weakness Injection and parsing: A quote in an address adds members to a request
  it("carry an address with quotes as one value, and the key only there", async () => {
    const id = "1733000000099";
    gateway.upstream.script("/worker", () => ({
      headers: { "content-type": "image/png" },
      body: Buffer.from("89504e470d0a1a0a", "hex"),
    }));
    gateway.upstream.script("/mj/submit/imagine", () => ({
      status: 200,
      body: { code: 1, description: "Submit success", result: id, properties: {} },
    }));
    await gateway.channel("mj_imagine", { type: 2, key: "mj-secret-1" });
    await gateway.option("WorkerUrl", `${gateway.upstream.url}/worker`);
    await gateway.option("WorkerValidKey", "canary-worker");
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ prompt: "x" });
    await fetch(`${gateway.url}/mj/submit/imagine`, { method: "POST", headers, body });
    await gateway.database.raw.run("update midjourneys set image_url = ? where mj_id = ?", [CODE, id]);
    const view = (await (await fetch(`${gateway.url}/mj/task/${id}/fetch`, { headers })).json()) as {
      imageUrl: string;
    };
    expect((await fetch(view.imageUrl)).status).toBe(200);
    const asked = gateway.upstream.requests.find(({ path }) => path === "/worker");
    expect(JSON.parse(asked?.body.toString() ?? "")).toEqual({ url: CODE, key: "canary-worker" });
    expect(JSON.stringify(view)).not.toContain("canary");
  });
});

describe("links that the operator writes", () => {
  // @weakness Injection and parsing: Links of the operator run scripts
  it("cannot run scripts", async () => {
    for (const [option, value] of [
      ["ChatLink", "javascript:alert(1)"],
      ["ChatLink2", " JavaScript:alert(1)"],
      ["ChatLink", "data:text/html,<script>"],
      ["TopUpLink", "vbscript:x"],
      ["Chats", '[{"x":"javascript:alert(1)"}]'],
    ] as const) {
      const answer = await gateway.root.call("PUT", "/api/option/", { key: option, value });
      expect([option, value, answer.success]).toEqual([option, value, false]);
    }
  });
});

describe("secrets that callers send", () => {
  // @weakness Credentials: Secrets are compared so that time tells them
  it.each([
    "identity/passwords/passwords.ts",
    "identity/oauth/telegram.ts",
    "resources/auth/oauth-routes.ts",
    "resources/wallet/epay.ts",
    "resources/stripe/signature.ts",
    "resources/status/setup-routes.ts",
    "tasks/midjourney/image.ts",
  ])("are compared in constant time in %s", (file) => {
    expect(readFileSync(join(import.meta.dirname, "../../src", file), "utf8")).toContain("timingSafeEqual(");
  });
});

describe("profilers", () => {
  // @weakness Leaks: A profiler is open to everybody
  it.each(["/debug/pprof/", "/debug/pprof/profile", "/api/debug/pprof/", "/debug/vars"])(
    "are not served at %s",
    async (path) => {
      const answer = await fetch(gateway.url + path, { headers: { accept: "application/json" } });
      const text = await answer.text();
      expect(answer.status === 404 || /<div id="root">/.test(text)).toBe(true);
    },
  );
});
