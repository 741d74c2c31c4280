import { createHmac, randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import { randomText } from "../../lib/ids.ts";
import type { Secret } from "../../lib/secret.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { Schema } from "../../storage/schema/schema.ts";

/** What a code proves: that a mailbox is read, or that its owner wants a new password. */
export type CodePurpose = "email" | "reset";

/** Signed messages of other services that are accepted once. */
type ClaimPurpose = "telegram";

export const CODE_SECONDS = 600;
const RESEND_SECONDS = 30;
const MAX_WRONG_TRIES = 5;
/** Without characters that look alike. */
const CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const CODE_CHARS = 6;
const RESET_BYTES = 16;

type Db = Kysely<Schema>;

export type IssuedCode = { readonly code: string } | { readonly waitSeconds: number };

/** One-time codes by mail address; only their HMAC is stored, a new one replaces the old. */
export interface Codes {
  /** A fresh code, or the seconds until the address may ask again. */
  issue(purpose: CodePurpose, subject: string): Promise<IssuedCode>;
  /** Looks without consuming; a wrong code counts, and five wrong ones void the right one. */
  check(purpose: CodePurpose, subject: string, code: string): Promise<boolean>;
  /** Consumes a right code, inside the transaction of what it allows; false when it is gone. */
  consume(purpose: CodePurpose, subject: string, code: string, trx: Db): Promise<boolean>;
  /** Takes a code back that could not be delivered. */
  withdraw(purpose: CodePurpose, subject: string): Promise<void>;
  /** True for the first caller with this subject; it is remembered until `expiresAt` (epoch seconds). */
  claim(purpose: ClaimPurpose, subject: string, expiresAt: number): Promise<boolean>;
  /** Deletes what has expired; answers how many. */
  prune(): Promise<number>;
}

export interface CodesDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Keys the HMAC: without it a leaked table would give the short codes away. */
  readonly secret: Secret;
}

export function createCodes(deps: CodesDeps): Codes {
  const { db, clock } = deps;
  return {
    issue: (purpose, subject) => issue(deps, { purpose, subject: subject.toLowerCase() }),
    async check(purpose, subject, code) {
      const key = { purpose, subject: subject.toLowerCase() };
      const known = await live(deps, key);
      if (!known) return false;
      if (known.code_hash === hash(deps, key, code)) return true;
      await db
        .updateTable("one_time_codes")
        .set((eb) => ({ attempts: eb("attempts", "+", 1) }))
        .where("purpose", "=", key.purpose)
        .where("subject", "=", key.subject)
        .where("code_hash", "=", known.code_hash)
        .execute();
      return false;
    },
    async consume(purpose, subject, code, trx) {
      const key = { purpose, subject: subject.toLowerCase() };
      const answer = await trx
        .deleteFrom("one_time_codes")
        .where("purpose", "=", key.purpose)
        .where("subject", "=", key.subject)
        .where("code_hash", "=", hash(deps, key, code))
        .where("expires_at", ">", seconds(clock))
        .where("attempts", "<", MAX_WRONG_TRIES)
        .executeTakeFirst();
      return answer.numDeletedRows === 1n;
    },
    async withdraw(purpose, subject) {
      await db
        .deleteFrom("one_time_codes")
        .where("purpose", "=", purpose)
        .where("subject", "=", subject.toLowerCase())
        .execute();
    },
    async claim(purpose, subject, expiresAt) {
      const row = { purpose, subject, code_hash: "", created_at: seconds(clock), expires_at: expiresAt };
      try {
        await db.insertInto("one_time_codes").values(row).execute();
        return true;
      } catch (cause) {
        if (isDuplicate(cause)) return false;
        throw cause;
      }
    },
    async prune() {
      const answer = await db.deleteFrom("one_time_codes").where("expires_at", "<=", seconds(clock)).executeTakeFirst();
      return Number(answer.numDeletedRows);
    },
  };
}

interface Key {
  readonly purpose: CodePurpose;
  /** Lower-case. */
  readonly subject: string;
}

async function issue(deps: CodesDeps, key: Key): Promise<IssuedCode> {
  const { db, clock } = deps;
  const isTyped = key.purpose === "email";
  const code = isTyped ? randomText(CODE_CHARS, CODE_ALPHABET) : randomBytes(RESET_BYTES).toString("hex");
  const now = seconds(clock);
  const fresh = { code_hash: hash(deps, key, code), attempts: 0, created_at: now, expires_at: now + CODE_SECONDS };
  const createdAt = await lastIssue(db, key);
  if (createdAt !== undefined) {
    const waitSeconds = createdAt + RESEND_SECONDS - now;
    if (waitSeconds > 0) return { waitSeconds };
    const change = db.updateTable("one_time_codes").set(fresh);
    await change.where("purpose", "=", key.purpose).where("subject", "=", key.subject).execute();
    return { code };
  }
  try {
    await db
      .insertInto("one_time_codes")
      .values({ ...key, ...fresh })
      .execute();
    return { code };
  } catch (cause) {
    // Another call for the same address was quicker.
    if (isDuplicate(cause)) return { waitSeconds: RESEND_SECONDS };
    throw cause;
  }
}

async function lastIssue(db: Db, { purpose, subject }: Key): Promise<number | undefined> {
  const select = db.selectFrom("one_time_codes").select("created_at");
  return (await select.where("purpose", "=", purpose).where("subject", "=", subject).executeTakeFirst())?.created_at;
}

function live({ db, clock }: CodesDeps, { purpose, subject }: Key): Promise<{ code_hash: string } | undefined> {
  return db
    .selectFrom("one_time_codes")
    .select("code_hash")
    .where("purpose", "=", purpose)
    .where("subject", "=", subject)
    .where("expires_at", ">", seconds(clock))
    .where("attempts", "<", MAX_WRONG_TRIES)
    .executeTakeFirst();
}

function hash({ secret }: CodesDeps, { purpose, subject }: Key, code: string): string {
  return createHmac("sha256", secret.reveal())
    .update(`${purpose}\n${subject}\n${normal(purpose, code)}`)
    .digest("hex");
}

/** Codes are typed from a mail: spaces around them and capitals do not matter. */
function normal(purpose: CodePurpose, code: string): string {
  return purpose === "email" ? code.trim().toLowerCase() : code.trim();
}
