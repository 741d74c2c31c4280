// A company's directory switches a person off while the person's programs run on three replicas.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, freshRedis } from "../src/databases.ts";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Session,
  type Upstream,
} from "../src/index.ts";

const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const PASSWORD = "password of ann";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream?.stop());

interface Call {
  /** Milliseconds of the same clock as the answer of the directory's call. */
  readonly startedAt: number;
  readonly status: number;
}

/** Calls without a pause until it is stopped. */
function callAlways(url: string, key: string): { stop(): Promise<readonly Call[]> } {
  const calls: Call[] = [];
  let isStopped = false;
  const run = async () => {
    while (!isStopped) {
      const startedAt = performance.now();
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "steady", messages: [{ role: "user", content: "hi" }] }),
      });
      await response.text();
      calls.push({ startedAt, status: response.status });
    }
  };
  const running = Promise.all([run(), run()]);
  return {
    async stop() {
      isStopped = true;
      await running;
      return calls;
    },
  };
}

async function switchOn(
  root: Session,
): Promise<{ directory: (method: string, path: string, body: object) => Promise<Response> }> {
  const made = { slug: "acme", name: "Acme", issuer: "https://login.example", client_id: "c" };
  const { id } = await root.must<{ id: number }>("POST", "/api/identity_provider/", made);
  const { token } = await root.must<{ token: string }>("POST", `/api/identity_provider/${id}/scim_token`, {});
  return {
    directory: (method, path, body) =>
      fetch(`${root.url}/scim/v2/acme${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
        body: JSON.stringify(body),
      }),
  };
}

describe.each([
  ["with Redis", 2_000],
  ["without Redis", 5_000],
] as const)("active: false on three replicas %s", (name, limitMs) => {
  let replicas: GatewayProcess[] = [];

  beforeAll(async () => {
    const database = await createDatabase("mariadb");
    const redis = name === "with Redis" ? { redis: (await freshRedis({ isDurable: true })).url } : {};
    const first = await startGateway({ database, ...redis });
    replicas = [
      first,
      ...(await Promise.all([startGateway({ database, ...redis }), startGateway({ database, ...redis })])),
    ];
  }, 120_000);
  afterAll(() => Promise.all(replicas.map((replica) => replica.stop())), 120_000);

  test(`no call starts ${limitMs} ms after the answer, and every session has ended`, async () => {
    const root = await signIn(replicas[0]?.url ?? "", "root", ROOT_PASSWORD);
    await setModelRatios(root, { steady: 1 });
    await createChannel(root, { base_url: upstream.url, models: "steady" });
    const { directory } = await switchOn(root);
    const person = { userName: "ann@acme.example", externalId: "oid-ann", displayName: "Ann", active: true };
    const { id } = (await (await directory("POST", "/Users", person)).json()) as { id: string };
    const [user] = await root.must<{ id: number }[]>("GET", "/api/user/search?keyword=ann");
    await root.must("PUT", "/api/user/", { id: user?.id, username: "ann", password: PASSWORD });
    await root.must("POST", "/api/user/manage", { id: user?.id, action: "add_quota", value: 500_000_000 });
    const sessions = await Promise.all(replicas.map(({ url }) => signIn(url, "ann", PASSWORD)));
    const key = await createToken(sessions[0] ?? root, { name: "program" });
    await sleep(6_000);
    const loads = replicas.map(({ url }) => callAlways(url, key));
    await sleep(2_000);
    const off = { schemas: [PATCH], Operations: [{ op: "Replace", path: "active", value: "False" }] };
    const answer = await directory("PATCH", `/Users/${id}`, off);
    const answeredAt = performance.now();
    expect(answer.status).toBe(200);
    // A session is read from the database with every call: it ends at once, on every replica.
    for (const session of sessions) expect((await session.call("GET", "/api/user/self")).success).toBe(false);
    await sleep(limitMs + 1_500);
    const calls = (await Promise.all(loads.map((load) => load.stop()))).flat();
    const served = calls.filter(({ status }) => status === 200);
    expect(served.filter(({ startedAt }) => startedAt < answeredAt).length).toBeGreaterThan(20);
    const latest = Math.max(...served.map(({ startedAt }) => startedAt - answeredAt));
    console.info(`${name}: the last call that was served began ${Math.round(latest)} ms after the answer`);
    expect(latest).toBeLessThan(limitMs);
    expect(calls.filter(({ status }) => status !== 200).length).toBeGreaterThan(0);
  }, 120_000);
});
