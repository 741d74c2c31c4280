// Compares what every batch cost with what its user, the ledger and the log say.
import { execFile } from "node:child_process";
import { ENCRYPTION_KEY, resolveGatewayProgram } from "../../src/gateway.ts";
import { runSql, type SqlRow } from "../../src/index.ts";
import type { KilledBatch } from "./kills.ts";
import { QUOTA, type BatchWorld } from "./world.ts";

/** 100 input and 50 output tokens at 0.5 and 2.5 dollars for a million, rounded for each item. */
const CHARGE = 88;
const CONSUME = 2;

export interface BatchVerdict extends KilledBatch {
  /** What was booked, as the ledger names it. */
  readonly booked: string;
  readonly charged: number;
  readonly problems: readonly string[];
}

/** Checks one batch after its end. */
export async function judgeBatch(world: BatchWorld, batch: KilledBatch): Promise<BatchVerdict> {
  const { database } = world;
  const row = await world.findBatch(batch);
  const request = String(row?.["request_id"]);
  const ledger = await runSql(
    database,
    `select kind, quota from ledger where request_id like '${request}%' order by id`,
  );
  const [user] = await runSql(
    database,
    `select quota, used_quota, request_count from users where id = ${batch.userId}`,
  );
  const logs = await runSql(database, `select quota from logs where user_id = ${batch.userId} and type = ${CONSUME}`);
  const isSettled = batch.end === "settled";
  const charged = isSettled ? batch.items * CHARGE : 0;
  const kinds = ledger.map(({ kind }) => String(kind));
  const sum = ledger.reduce((total, { quota }) => total + Number(quota), 0);
  const facts: readonly (readonly [string, unknown, unknown])[] = [
    ["phase", row?.["phase"], batch.end],
    ["sum of the ledger", sum, -charged],
    ["charges", ledger.filter(isCharge).length, isSettled ? 1 : 0],
    ["returns", kinds.filter((kind) => kind === "return").length, 1],
    ["deposits", kinds.filter((kind) => kind === "deposit").length <= 1, true],
    ["balance", Number(user?.["quota"]), QUOTA - charged],
    ["used quota", Number(user?.["used_quota"]), charged],
    ["requests", Number(user?.["request_count"]), isSettled ? batch.items : 0],
    ["rows of the log", logs.map(({ quota }) => Number(quota)).join(), isSettled ? String(charged) : ""],
  ];
  const problems = facts
    .filter(([, found, wanted]) => found !== wanted)
    .map(([name, found, wanted]) => `${name} is ${String(found)} instead of ${String(wanted)}`);
  return { ...batch, booked: kinds.join(", "), charged, problems };
}

/** A reservation that lapses before the batch is refused is closed with a charge of nothing. */
function isCharge({ kind, quota }: SqlRow): boolean {
  return kind === "consume" && Number(quota) !== 0;
}

/** Runs `ledger audit`, which also compares the live balances in Redis; returns its last line. */
export function auditLedger({ database, redisUrl }: BatchWorld): Promise<string> {
  const env = {
    PATH: process.env["PATH"],
    FAIRWAY_DATABASE_URL: database,
    FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY,
    ...(redisUrl !== undefined && { FAIRWAY_REDIS_URL: redisUrl }),
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [resolveGatewayProgram(), "ledger", "audit"], { env }, (error, out, err) =>
      resolve(error ? `${out}${err}`.trim() : (out.trim().split("\n").at(-1) ?? "")),
    );
  });
}
