import { keyHint, type RotatedKey, type Token } from "@fairway/wire";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

/** A key is replaced while clients of two replicas use it. */

const GRACE_SECONDS = 2;
const replicas: RelayApp[] = [];

beforeAll(async () => {
  const redis = await freshRedis();
  const url = await createDatabase("postgres");
  for (const name of ["one", "two"]) {
    const cluster = { FAIRWAY_REDIS_URL: redis.url, FAIRWAY_INSTANCE_ID: name };
    replicas.push(await startRelayApp({ FAIRWAY_DATABASE_URL: url, ...cluster }));
  }
  await first().channel("gpt-4o-mini");
}, 60_000);
afterAll(async () => {
  for (const replica of replicas) await replica.close();
});

const first = () => replicas[0] as RelayApp;
const ask = async (replica: RelayApp, key: string): Promise<number> => {
  const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] };
  const answer = await replica.post("/v1/chat/completions", body, `sk-${key}`);
  await answer.arrayBuffer();
  return answer.status;
};

async function makeToken(name: string): Promise<Token> {
  const { root } = first();
  const token = await root.must<Token>("POST", "/api/token/", { name, unlimited_quota: true });
  for (const replica of replicas) await expect.poll(() => ask(replica, token.key), { timeout: 10_000 }).toBe(200);
  return token;
}

const rotate = async (id: number, grace_seconds: number): Promise<RotatedKey> =>
  await first().root.must<RotatedKey>("POST", `/api/token/${id}/rotate`, { grace_seconds });

interface Answer {
  readonly key: string;
  readonly status: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

it("no call is refused during the grace, and the replaced key is refused after it", async () => {
  const token = await makeToken("busy");
  const keys = [token.key];
  const answers: Answer[] = [];
  let isOver = false;
  const clients = replicas.flatMap((replica) =>
    Array.from({ length: 4 }, async (_, client) => {
      while (!isOver) {
        const key = keys.at(client % 2 === 0 ? 0 : -1) ?? "";
        const startedAt = Date.now();
        answers.push({ key, status: await ask(replica, key), startedAt, endedAt: Date.now() });
      }
    }),
  );
  await pause(200);
  const rotated = await rotate(token.id, GRACE_SECONDS);
  const endsAt = (rotated.old[0]?.expires_at ?? 0) * 1000;
  keys.push(rotated.key);
  await pause(Math.max(0, endsAt - Date.now()) + 800);
  isOver = true;
  await Promise.all(clients);

  const ofOld = answers.filter(({ key }) => key === token.key);
  const during = [...answers.filter(({ key }) => key === rotated.key), ...ofOld.filter((one) => one.endedAt < endsAt)];
  expect(during.length).toBeGreaterThan(20);
  expect(during.filter(({ status }) => status !== 200)).toEqual([]);
  const after = ofOld.filter(({ startedAt }) => startedAt > endsAt);
  expect(after.length).toBeGreaterThan(0);
  expect(new Set(after.map(({ status }) => status))).toEqual(new Set([401]));
});

it("without a grace the replaced key ends on both replicas, and the log names the key while several work", async () => {
  const token = await makeToken("leaked");
  const second = await rotate(token.id, 3600);
  for (const [index, key] of [token.key, second.key].entries())
    expect(await ask(replicas[index] as RelayApp, key)).toBe(200);
  const third = await rotate(token.id, 0);
  for (const replica of replicas) {
    await expect.poll(() => ask(replica, second.key), { timeout: 2_000 }).toBe(401);
    expect(await ask(replica, token.key)).toBe(200);
    expect(await ask(replica, third.key)).toBe(200);
  }
  await first().settled();
  await replicas[1]?.settled();
  const named = async () => {
    const rows = await first()
      .database.db.selectFrom("logs")
      .select("other")
      .where("token_id", "=", token.id)
      .execute();
    return new Set(rows.map(({ other }) => (JSON.parse(other) as { key?: string }).key));
  };
  await expect.poll(named).toEqual(new Set([undefined, keyHint(token.key), keyHint(second.key), keyHint(third.key)]));
});

it("a rotation names its faults, and the replaced keys are listed", async () => {
  const token = await makeToken("listed");
  const { root } = first();
  const fails = async (body: object, id = token.id) =>
    (await root.call("POST", `/api/token/${id}/rotate`, body)).message;
  expect(await fails({ grace_seconds: -1 })).toContain("grace_seconds");
  expect(await fails({ grace_seconds: 2_592_001 })).toContain("grace_seconds");
  expect(await fails({}, token.id + 1000)).toBe("Token does not exist.");
  const rotated = await root.must<RotatedKey>("POST", `/api/token/${token.id}/rotate`, {});
  const [old] = rotated.old;
  expect(old?.expires_at).toBeGreaterThan(Date.now() / 1000 + 86_000);
  expect(await root.must("GET", `/api/token/${token.id}/keys`)).toMatchObject([{ hint: keyHint(token.key) }]);
  await root.must("DELETE", `/api/token/${token.id}/keys/${old?.id}`);
  expect(await root.must("GET", `/api/token/${token.id}/keys`)).toEqual([]);
  expect(await ask(first(), token.key)).toBe(401);
});
