// What a batch owes does not depend on what happens to its user, token, channel, key or files while it runs: every
// change in every phase, all at once in one gateway.
import { createToken, signIn, type Session } from "@fairway/testkit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { checkCounters } from "../../../src/billing/audit/counters.ts";
import { checkDeposits } from "../../../src/billing/audit/deposits.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { readLedger, startBatchApp, type BatchApp } from "./batch-kit.ts";

const CHANGES = [
  "nothing changes",
  "the user is disabled",
  "the user is deleted",
  "the token is deleted",
  "the token expires",
  "the channel is disabled",
  "the key is removed for a while",
  "the channel is deleted",
] as const;
type Change = (typeof CHANGES)[number];
const PHASES = ["creating", "open", "ended"] as const;
type Phase = (typeof PHASES)[number];

interface Case {
  readonly change: Change;
  readonly phase: Phase;
  readonly group: string;
  /** The upstream tells batches whose answer was lost apart by their number of items. */
  readonly items: number;
}

const CASES: readonly Case[] = PHASES.flatMap((phase, at) =>
  CHANGES.map((change, index) => ({
    change,
    phase,
    group: `g${at}x${index}`,
    items: phase === "creating" ? index + 2 : 1,
  })),
);

/** 100 input and 50 output tokens at 0.5 and 2.5 dollars for a million, rounded for each item. */
const CHARGE = 88;
const PASSWORD = "batch-password-1";
const MODEL = "claude-haiku-4-5";
const KEY = "sk-of-the-batch";
/** The jobs that search and cancel run every 30 s. */
const WAIT = { timeout: 90_000, interval: 300 };

interface Running extends Case {
  readonly user: Session;
  readonly channel: number;
  readonly id: string;
  readonly requestId: string;
}

let app: BatchApp;
const running: Running[] = [];

const readRow = (id: string) =>
  app.gateway.database.db.selectFrom("batches").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const readPhase = async (id: string) => (await readRow(id)).phase;
const readUpstream = async (id: string) => app.gateway.upstream.batches.batches.get((await readRow(id)).upstream_id);
const untilPhase = (id: string, phase: string) => vi.waitFor(async () => expect(await readPhase(id)).toBe(phase), WAIT);
const each = (work: (one: Running) => Promise<unknown>) => Promise.all(running.map(work));
const isOfUser = ({ change }: Case) => change === "the user is disabled" || change === "the user is deleted";

/** Creates the batch of a case, and brings it to its phase. */
async function start(one: Case): Promise<Running> {
  const { root, upstream, database } = app.gateway;
  const { group, phase, items } = one;
  await root.must("POST", "/api/user/", { username: group, password: PASSWORD, display_name: group });
  const user = await signIn(root.url, group, PASSWORD);
  await root.must("PUT", "/api/user/", { id: user.userId, username: group, group, quota: 1_000_000 });
  const channel = await app.gateway.channel(MODEL, { type: 14, key: KEY, group });
  const key = await createToken(user);
  if (phase === "creating") upstream.batches.loseNextAnswer();
  const list = Array.from({ length: items }, (_none, index) => app.item(`item-${index}`));
  const response = await app.create(`{"requests":[${list.join()}]}`, key);
  expect(response.status).toBe(phase === "creating" ? 502 : 200);
  const rows = database.db.selectFrom("batches").selectAll().where("user_id", "=", user.userId);
  const { id, request_id: requestId } = await rows.executeTakeFirstOrThrow();
  if (phase === "ended") {
    upstream.batches.end((await readRow(id)).upstream_id, {}, { missingReads: 1_000 });
    await app.makeDue(id);
    await untilPhase(id, "ended");
  }
  return { ...one, user, channel, id, requestId };
}

async function expire(user: Session, id: number): Promise<void> {
  const token = await user.must<object>("GET", `/api/token/${id}`);
  await user.must("PUT", "/api/token/", { ...token, expired_time: 1_000 });
}

async function apply({ change, user, channel }: Running): Promise<void> {
  const { root } = app.gateway;
  const tokens = app.gateway.database.db.selectFrom("tokens").selectAll().where("user_id", "=", user.userId);
  const token = await tokens.executeTakeFirstOrThrow();
  const deed: Readonly<Record<Change, () => Promise<unknown>>> = {
    "nothing changes": () => Promise.resolve(),
    "the user is disabled": () => root.must("POST", "/api/user/manage", { id: user.userId, action: "disable" }),
    "the user is deleted": () => root.must("DELETE", `/api/user/${user.userId}`),
    "the token is deleted": () => user.must("DELETE", `/api/token/${token.id}`),
    "the token expires": () => expire(user, token.id),
    "the channel is disabled": () => root.must("PUT", "/api/channel/", { id: channel, status: 2 }),
    "the key is removed for a while": () => root.must("PUT", "/api/channel/", { id: channel, key: "sk-of-another" }),
    "the channel is deleted": () => root.must("DELETE", `/api/channel/${channel}?force=true`),
  };
  await deed[change]();
}

/** Lets the batch come to its end at the upstream, and to its settlement where that is possible. */
async function finish(one: Running): Promise<void> {
  const { change, id, channel, phase } = one;
  const { root, upstream } = app.gateway;
  if (change === "the channel is deleted") return untilPhase(id, "stuck");
  if (change === "the key is removed for a while") {
    const error = { creating: "", open: "key_lost", ended: "results_unreadable" }[phase];
    await vi.waitFor(async () => expect((await readRow(id)).error).toBe(error), WAIT);
    await root.must("PUT", "/api/channel/", { id: channel, key: KEY });
    await app.makeDue(id);
  }
  await vi.waitFor(async () => expect(["open", "ended"]).toContain(await readPhase(id)), WAIT);
  if (isOfUser(one) && phase !== "ended")
    await vi.waitFor(async () => expect((await readUpstream(id))?.status).toBe("canceling"), WAIT);
  upstream.batches.end((await readRow(id)).upstream_id);
  await app.makeDue(id);
  await untilPhase(id, "settled");
}

beforeAll(async () => {
  app = await startBatchApp();
  const groups = Object.fromEntries(CASES.map(({ group }) => [group, 1]));
  await app.gateway.option("GroupRatio", JSON.stringify({ default: 1, ...groups }));
  for (const one of CASES) running.push(await start(one));
  await each(apply);
  await each(({ id }) => app.makeDue(id));
  await each(finish);
}, 400_000);
afterAll(() => app.gateway.close());

const find = (phase: Phase, change: Change): Running => {
  const found = running.find((one) => one.phase === phase && one.change === change);
  return found ?? expect.unreachable("the case did not run");
};

describe.each(PHASES)("a batch that is %s", (phase) => {
  it.each(CHANGES.slice(0, -1))("is charged once for what has finished: %s", async (change) => {
    const { id, requestId, items } = find(phase, change);
    const { deposit, charged, succeeded } = await readRow(id);
    expect([charged, succeeded]).toEqual([items * CHARGE, items]);
    const ledger = await readLedger(app.gateway, requestId);
    expect(ledger.map(({ kind, quota }) => [kind, quota])).toEqual([
      ["deposit", -deposit],
      ["return", deposit],
      ["consume", -items * CHARGE],
    ]);
  });

  it("waits for a person with its deposit: the channel is deleted", async () => {
    const { id, requestId, user } = find(phase, "the channel is deleted");
    const { deposit, error } = await readRow(id);
    expect(error).toBe("channel_deleted");
    expect((await readLedger(app.gateway, requestId)).map(({ kind, quota }) => [kind, quota])).toEqual([
      ["deposit", -deposit],
    ]);
    await app.gateway.root.must("POST", `/api/batch/${id}/abandon`);
    expect(await user.must("GET", "/api/user/self")).toMatchObject({ quota: 1_000_000, used_quota: 0 });
  });
});

it("leaves books that agree", async () => {
  const { raw } = app.gateway.database;
  expect(await checkLedgerSums(raw)).toEqual([]);
  expect(await checkCounters(raw)).toEqual([]);
  expect(await checkDeposits(raw)).toEqual([]);
});
