import { createDatabase } from "@fairway/testkit/databases";
import { parseOptions } from "@fairway/wire";
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../test/store-kit.ts";
import { createBudgets, type Budgets } from "../billing/budgets.ts";
import { quota } from "../billing/quota.ts";
import type { Caller } from "../identity/caller.ts";
import { AppError } from "../lib/app-error.ts";
import { createMemoryClaims } from "../limits/claims-memory.ts";
import type { Claim, Claims } from "../limits/claims.ts";
import { createLog } from "../observability/log.ts";
import type { Snapshot } from "../snapshot/types.ts";
import { createAdmission, type Admission } from "./admission.ts";
import { createCallLimit } from "./call-limit.ts";
import { gateFor, openWithin, type Gate } from "./gate.ts";
import type { Room, Rooms } from "./rooms.ts";

const NEVER_MS = 1_000_000;
const clock = { now: () => Date.parse("2026-11-21T12:00:00Z") };
const metrics = { limited: () => undefined, queued: () => undefined };

let kit: StoreKit;
let claims: Claims;
let budgets: Budgets;
let admission: Admission;

beforeAll(async () => {
  kit = await openStoreKit(await createDatabase("sqlite"));
});
afterAll(() => kit.database.close());
beforeEach(async () => {
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  for (const table of ["budgets", "budget_holds"]) await kit.database.raw.run(`delete from ${table}`, []);
  claims = createMemoryClaims(clock);
  budgets = createBudgets({ database: kit.database.raw, clock, log, onThreshold: () => undefined });
  admission = createAdmission(NEVER_MS);
});

class Client extends EventEmitter {
  closed = false;
  readonly headersSent = true;

  setHeader(): void {}

  leave(): void {
    this.closed = true;
    this.emit("close");
  }
}

function gateOf(id: string, rows: Readonly<Record<string, string>> = {}, userId = 7): Gate {
  const options = parseOptions(Object.entries(rows).map(([key, value]) => ({ key, value })));
  const caller = { userId, tokenId: 3, userLimits: { rpm: 1 } } as Caller;
  const calls = createCallLimit({ claims, options: () => options, metrics });
  const ask = { model: "m", promptEstimate: 10, outputCap: 10 };
  const snapshot = { options, channels: new Map() } as unknown as Snapshot;
  return gateFor({ id, caller, ask }, snapshot, {
    claims,
    budgets,
    admission,
    calls,
    metrics,
    recheck: () => Promise.resolve(),
  }) as Gate;
}

const room = (id: number, limits: object = {}): Room => ({
  channel: { id, setting: { limits } },
  group: "default",
  keyIndex: 0,
});

function roomsOf(...all: Room[]): Rooms<Room> {
  let at = 0;
  const next = () => all[at++];
  return { next, full: () => undefined, reopen: () => ((at = 0), next()), lastResort: () => undefined };
}

test("a client that leaves while it waits is out of the queue at once", async () => {
  const only = room(1, { concurrency: 1 });
  const place: Claim = { scope: "channel", subject: "1", kind: "concurrency", limit: 1, amount: 1 };
  await claims.take("other", [place]);
  const client = new Client();
  const rooms = roomsOf(only);
  const entering = gateOf("a").enter(rooms.next(), rooms, { visitor: client, amount: () => quota(0) });
  await expect.poll(() => admission.waiting).toBe(1);
  client.leave();
  expect(admission.waiting).toBe(0);
  await expect(entering).rejects.toMatchObject({ code: "client_closed_request" });
});

test("who cannot pay does not wait, and is told why", async () => {
  const place: Claim = { scope: "channel", subject: "1", kind: "concurrency", limit: 1, amount: 1 };
  await claims.take("other", [place]);
  const gate = gateOf("a");
  const rooms = roomsOf(room(1, { concurrency: 1 }));
  const entering = gate.enter(rooms.next(), rooms, { visitor: new Client(), amount: () => quota(0) });
  await expect.poll(() => admission.waiting).toBe(1);
  const poor = new AppError("insufficient_user_quota");
  const opening = Promise.reject<object>(poor);
  await expect(openWithin(gate, entering, opening, () => Promise.resolve())).rejects.toBe(poor);
  expect(admission.waiting).toBe(0);
});

test("a request counts once, however many channels were over their budget", async () => {
  const row = { scope: "channel", subject: "1", period: "day", time_zone: "UTC", quota_limit: 1 };
  await kit.database.db
    .insertInto("budgets")
    .values({ ...row, soft_percent: 0, is_hard: 1, window_start: 0 })
    .execute();
  await budgets.reload();
  const rooms = roomsOf(room(1), room(2));
  const entering = gateOf("a").enter(rooms.next(), rooms, { visitor: new Client(), amount: () => quota(100) });
  expect((await entering)?.channel.id).toBe(2);
});

const placeIn = (subject: string, limit = 1): Claim => ({
  scope: "channel",
  subject,
  kind: "concurrency",
  limit,
  amount: 1,
});
const enter = (id: string, userId: number, ...all: Room[]) => {
  const rooms = roomsOf(...all);
  const asked = { visitor: new Client(), amount: () => quota(0) };
  return gateOf(id, {}, userId).enter(rooms.next(), rooms, asked);
};

test("who comes later does not overtake those who wait for any of its channels", async () => {
  const rooms = [room(1, { concurrency: 1 }), room(2, { concurrency: 1 })];
  for (const subject of ["1", "2"]) await claims.take("other", [placeIn(subject)]);
  const first = enter("a", 7, ...rooms);
  await expect.poll(() => admission.waiting).toBe(1);
  await claims.release("other", [placeIn("1")]);
  const second = enter("b", 8, ...rooms);
  await expect.poll(() => admission.waiting).toBe(2);
  admission.freed(1);
  expect((await first)?.channel.id).toBe(1);
  await claims.release("other", [placeIn("2")]);
  admission.freed(2);
  expect((await second)?.channel.id).toBe(2);
  expect(admission.waiting).toBe(0);
});

test("when much is free at once, all who wait go on one after the other", async () => {
  for (const id of ["x", "y", "z"]) await claims.take(id, [placeIn("1", 3)]);
  const waiting = [7, 8, 9].map((userId) => enter(`w${userId}`, userId, room(1, { concurrency: 3 })));
  await expect.poll(() => admission.waiting).toBe(3);
  for (const id of ["x", "y", "z"]) await claims.release(id, [placeIn("1", 3)]);
  admission.freed(1);
  expect((await Promise.all(waiting)).map((found) => found?.channel.id)).toEqual([1, 1, 1]);
});

test("a channel over its budget does not keep a request from waiting for another one", async () => {
  const row = { scope: "channel", subject: "2", period: "day", time_zone: "UTC", quota_limit: 1 };
  await kit.database.db
    .insertInto("budgets")
    .values({ ...row, soft_percent: 0, is_hard: 1, window_start: 0 })
    .execute();
  await budgets.reload();
  await claims.take("other", [placeIn("1")]);
  const rooms = roomsOf(room(1, { concurrency: 1 }), room(2));
  const entering = gateOf("a").enter(rooms.next(), rooms, { visitor: new Client(), amount: () => quota(100) });
  await expect.poll(() => admission.waiting).toBe(1);
  await claims.release("other", [placeIn("1")]);
  admission.freed(1);
  expect((await entering)?.channel.id).toBe(1);
});
