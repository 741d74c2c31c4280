import { freshRedis } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createLimits } from "./limits.ts";
import { createDegradationLister, watchDatabase, watchOutage } from "../outage.ts";
import { loadEnv } from "../../config/env.ts";
import { Secret } from "../../lib/secret.ts";
import type { Claim } from "../../limits/claims.ts";
import type { Rule } from "../../limits/limiter.ts";
import { createLog } from "../../observability/log.ts";
import { createMetrics } from "../../observability/metrics.ts";
import { createRedisClient } from "../../redis/client.ts";
import { createKeys } from "../../redis/keys.ts";

const wanted: Claim[] = [{ scope: "user", subject: "1", kind: "requests", limit: 1, amount: 1 }];
const signIn: Rule = { name: "critical", limit: 1, windowMs: 60_000, onOutage: "deny" };

test("while Redis is away each part follows its option and reports its state", async () => {
  const service = await freshRedis();
  const out = new PassThrough();
  const log = createLog({ level: "warn", format: "text", out });
  const metrics = createMetrics({ version: "1" });
  const redis = createRedisClient({ url: new Secret(service.url), keys: createKeys("o:"), log, name: "test" });
  await redis.ready(30_000);
  const shared = { client: redis, outage: watchOutage(redis) };
  const database = watchDatabase();
  const made = (variables: Record<string, string>) => {
    const env = loadEnv(variables);
    return {
      listDegradations: createDegradationLister(env, shared, database),
      ...createLimits({ redis: shared, log, metrics, env }),
    };
  };
  const usual = made({});
  const other = made({
    FAIRWAY_RELAY_LIMITS_ON_OUTAGE: "deny",
    FAIRWAY_LOGIN_LIMITS_ON_OUTAGE: "allow",
    FAIRWAY_QUOTA_ON_OUTAGE: "sql",
    FAIRWAY_DATABASE_ON_OUTAGE: "deny",
  });
  metrics.watch({ listDegradations: usual.listDegradations });
  expect(usual.listDegradations().map(({ isNormal }) => isNormal)).toEqual([true, true, true, true]);
  expect((await metrics.expose()).text).toContain('fairway_degraded{part="reservations",mode="deny"} 0');
  await service.stop();

  expect((await usual.claims.take("a", wanted)).taken).toBe(true);
  expect((await usual.claims.take("b", wanted)).taken).toBe(false);
  expect((await usual.limiter.take(signIn, "x")).admitted).toBe(false);
  await expect(other.claims.take("c", wanted)).rejects.toMatchObject({ code: "limits_unavailable", status: 503 });
  expect((await other.limiter.take(signIn, "x")).admitted).toBe(true);
  expect((await other.limiter.peek(signIn, "x")).admitted).toBe(false);

  expect(usual.listDegradations().map(({ detail }) => detail)).toEqual([
    "Redis is away: new requests are refused (FAIRWAY_QUOTA_ON_OUTAGE=deny)",
    "Redis is away: each process counts alone (FAIRWAY_RELAY_LIMITS_ON_OUTAGE=allow)",
    "Redis is away: sign-in is refused (FAIRWAY_LOGIN_LIMITS_ON_OUTAGE=deny)",
    "with the database; while it is away known keys are served for ten minutes and charges wait in Redis (FAIRWAY_DATABASE_ON_OUTAGE=serve)",
  ]);
  database.polled(false);
  expect(other.listDegradations().map(({ detail }) => detail)).toEqual([
    "Redis is away: new requests are reserved in the database (FAIRWAY_QUOTA_ON_OUTAGE=sql)",
    "Redis is away: limited calls are refused (FAIRWAY_RELAY_LIMITS_ON_OUTAGE=deny)",
    "Redis is away: each process counts alone (FAIRWAY_LOGIN_LIMITS_ON_OUTAGE=allow)",
    "the database is away: new model calls are refused (FAIRWAY_DATABASE_ON_OUTAGE=deny)",
  ]);
  const { text } = await metrics.expose();
  expect(text).toContain('fairway_degraded{part="limits of sign-in",mode="deny"} 1');
  expect(text).toMatch(/fairway_limit_outages_total\{rule="relay"\} \d/);
  await redis.close();
  out.end();
  const lines: string[] = [];
  for await (const line of out) lines.push(String(line));
  expect(lines.join("")).toContain("limits are decided without Redis");
});

test("a single process counts and reserves by itself", () => {
  const database = watchDatabase();
  const states = () =>
    createDegradationLister(loadEnv({}), undefined, database)().map(({ part, detail }) => `${part} ${detail}`);
  expect(states()).toEqual(["reservations in the database", "limits counted in this process"]);
  database.polled(false);
  expect(states()[0]).toBe("reservations the database is away: new model calls that cost something are refused");
});
