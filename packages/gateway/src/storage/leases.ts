import type { RawDatabase, RawTransaction } from "./engines/raw.ts";
import { isDuplicate } from "./errors.ts";
import { upsertSql } from "./inserts.ts";
import { forUpdate } from "./statements.ts";

/** Rows of `leases`: the current leader, and the term that was asked to stop. */
const LEASE = "leader";
const STEP_DOWN = "step-down";
const REQUEST = {
  table: "leases",
  columns: ["name", "holder", "term", "expires_at"],
  key: ["name"],
  replace: ["holder", "term", "expires_at"],
} as const;

export interface LeaseRow {
  readonly holder: string;
  readonly term: number;
  readonly expires_at: number;
}

export interface Claim {
  readonly holder: string;
  readonly term: number;
  readonly expiresAt: number;
}

export async function readLease(tx: RawTransaction, lock = ""): Promise<LeaseRow | undefined> {
  const sql = `select holder, term, expires_at from leases where name = ?${lock}`;
  return (await tx.rows<LeaseRow>(sql, [LEASE]))[0];
}

/** Takes the lease; returns false if another replica was faster. */
export async function takeLease(database: RawDatabase, row: LeaseRow | undefined, claim: Claim): Promise<boolean> {
  const { holder, term, expiresAt } = claim;
  if (row) {
    const sql = "update leases set holder = ?, term = ?, expires_at = ? where name = ? and term = ? and expires_at = ?";
    return (await database.run(sql, [holder, term, expiresAt, LEASE, row.term, row.expires_at])) > 0;
  }
  try {
    const sql = "insert into leases (name, holder, term, expires_at) values (?, ?, ?, ?)";
    return (await database.run(sql, [LEASE, holder, term, expiresAt])) > 0;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

export async function renewLease(database: RawDatabase, { holder, term, expiresAt }: Claim): Promise<boolean> {
  const sql = "update leases set expires_at = ? where name = ? and holder = ? and term = ?";
  return (await database.run(sql, [expiresAt, LEASE, holder, term])) > 0;
}

/** Frees the lease, so that another replica takes over at its next heartbeat. */
export async function freeLease(database: RawDatabase, { holder, term }: Omit<Claim, "expiresAt">): Promise<void> {
  const sql = "update leases set holder = '', expires_at = 0 where name = ? and holder = ? and term = ?";
  await database.run(sql, [LEASE, holder, term]);
}

export function isSame(a: LeaseRow | undefined, b: LeaseRow): boolean {
  return a?.holder === b.holder && a.term === b.term && a.expires_at === b.expires_at;
}

/** The suffix of a holder: its process name is followed by a text that is never reused. */
const SUFFIX = /-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Asks the leader to end its term, which it does at its next heartbeat. Returns the name of its process; undefined if
 * there is no leader.
 */
export async function askToStepDown(database: RawDatabase): Promise<string | undefined> {
  return database.transaction(async (tx) => {
    const row = await readLease(tx, forUpdate(database.kind));
    if (!row || row.holder === "") return undefined;
    await tx.run(upsertSql(database.kind, REQUEST), [STEP_DOWN, row.holder, row.term, row.expires_at]);
    return row.holder.replace(SUFFIX, "");
  });
}

export async function isAskedToStepDown(
  database: RawDatabase,
  { holder, term }: Omit<Claim, "expiresAt">,
): Promise<boolean> {
  const sql = "select 1 as asked from leases where name = ? and holder = ? and term = ?";
  return (await database.rows(sql, [STEP_DOWN, holder, term])).length > 0;
}
