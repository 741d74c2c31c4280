import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Kysely } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import { countedAddress } from "../../lib/net/ip.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Limiter, Rule } from "../../limits/limiter.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { Schema } from "../../storage/tables/schema.ts";

/** The purpose of a code: verifying a mailbox, or resetting a password. */
export type CodePurpose = "email" | "reset";

/** Signed messages of other services that are accepted once. */
type ClaimPurpose = "telegram" | "logout";

export const CODE_SECONDS = 600;
const RESEND_SECONDS = 30;
/** Wrong codes from one address for one mailbox. */
const GUESSES: Rule = { name: "code-guesses", limit: 5, windowMs: CODE_SECONDS * 1_000, onOutage: "deny" };
/** Wrong codes from all addresses together; a guess succeeds with a chance of 1 in 887 million. */
const MAX_WRONG_TRIES = 5_000;
/** Contains no characters that look alike. */
const CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const CODE_CHARS = 6;
const RESET_CHARS = 32;
const NONCE_BYTES = 32;

type Db = Kysely<Schema>;

export type IssuedCode = { readonly code: string } | { readonly waitSeconds: number };

/**
 * One-time codes by mail address. The table stores a random number for each; the code is derived from it and from a
 * secret. Requests within the validity period return the same code, so that a third party cannot invalidate it.
 */
export interface Codes {
  /** Returns the code of an address, or the seconds until it may request one again. */
  issue(purpose: CodePurpose, subject: string): Promise<IssuedCode>;
  /** Checks a code without consuming it. After five wrong codes an address is refused, even with the right one. */
  check(purpose: CodePurpose, subject: string, tried: Tried): Promise<boolean>;
  /**
   * Consumes a right code, inside the transaction of the action that it permits; returns false if it no longer exists.
   */
  consume(purpose: CodePurpose, subject: string, code: string, trx: Db): Promise<boolean>;
  /** Allows requesting a code again at once, after it could not be delivered. */
  withdraw(purpose: CodePurpose, subject: string): Promise<void>;
  /** Returns true for the first caller with this subject; it is remembered until `expiresAt` (epoch seconds). */
  claim(purpose: ClaimPurpose, subject: string, expiresAt: number): Promise<boolean>;
  /** Deletes expired rows; returns how many. */
  prune(): Promise<number>;
}

export interface Tried {
  readonly code: string;
  /** Address of the client. */
  readonly ip: string;
}

export interface CodesDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly limiter: Limiter;
  /** The key of the codes: without it, a leaked table would reveal them. */
  readonly secret: Secret;
}

export function createCodes(deps: CodesDeps): Codes {
  const { db, clock } = deps;
  return {
    issue: (purpose, subject) => issue(deps, { purpose, subject: subject.toLowerCase() }),
    check: (purpose, subject, tried) => check(deps, { purpose, subject: subject.toLowerCase() }, tried),
    async consume(purpose, subject, code, trx) {
      const key = { purpose, subject: subject.toLowerCase() };
      const known = await live(deps, key, trx);
      if (!known || !isSame(deriveCode(deps, key, known.code_hash), normal(code))) return false;
      const answer = await whereKey(trx.deleteFrom("one_time_codes"), key)
        .where("code_hash", "=", known.code_hash)
        .executeTakeFirst();
      return answer.numDeletedRows === 1n;
    },
    async withdraw(purpose, subject) {
      const key = { purpose, subject: subject.toLowerCase() };
      await whereKey(db.updateTable("one_time_codes").set({ created_at: 0 }), key).execute();
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

/** Restricts a query to the rows of a key. */
function whereKey<Q extends { where(column: "purpose" | "subject", is: "=", value: string): Q }>(
  query: Q,
  key: Key,
): Q {
  return query.where("purpose", "=", key.purpose).where("subject", "=", key.subject);
}

async function issue(deps: CodesDeps, key: Key): Promise<IssuedCode> {
  const { db, clock } = deps;
  const now = seconds(clock);
  const sent = { created_at: now, expires_at: now + CODE_SECONDS };
  const row = await whereKey(
    db.selectFrom("one_time_codes").select(["created_at", "code_hash"]),
    key,
  ).executeTakeFirst();
  const waitSeconds = row ? row.created_at + RESEND_SECONDS - now : 0;
  if (waitSeconds > 0) return { waitSeconds };
  if (row && (await live(deps, key, db))) {
    await whereKey(db.updateTable("one_time_codes").set(sent), key).execute();
    return { code: deriveCode(deps, key, row.code_hash) };
  }
  const fresh = { code_hash: randomBytes(NONCE_BYTES).toString("hex"), attempts: 0, ...sent };
  try {
    if (row) await whereKey(db.updateTable("one_time_codes").set(fresh), key).execute();
    else
      await db
        .insertInto("one_time_codes")
        .values({ ...key, ...fresh })
        .execute();
    return { code: deriveCode(deps, key, fresh.code_hash) };
  } catch (cause) {
    // Another call for the same address was faster.
    if (isDuplicate(cause)) return { waitSeconds: RESEND_SECONDS };
    throw cause;
  }
}

async function check(deps: CodesDeps, key: Key, { code, ip }: Tried): Promise<boolean> {
  const { db, limiter } = deps;
  const source = `${key.purpose} ${key.subject} from ${countedAddress(ip)}`;
  if (!(await limiter.peek(GUESSES, source)).admitted) return false;
  const known = await live(deps, key, db);
  if (known && isSame(deriveCode(deps, key, known.code_hash), normal(code))) return true;
  await limiter.take(GUESSES, source);
  // The token of a reset is too long to be guessed, so no number of tries invalidates it.
  if (!known || key.purpose === "reset") return false;
  const counted = db.updateTable("one_time_codes").set((eb) => ({ attempts: eb("attempts", "+", 1) }));
  await whereKey(counted, key).where("code_hash", "=", known.code_hash).execute();
  return false;
}

function live({ clock }: CodesDeps, key: Key, db: Db): Promise<{ code_hash: string } | undefined> {
  return whereKey(db.selectFrom("one_time_codes").select("code_hash"), key)
    .where("expires_at", ">", seconds(clock))
    .where("attempts", "<", MAX_WRONG_TRIES)
    .executeTakeFirst();
}

function deriveCode({ secret }: CodesDeps, { purpose, subject }: Key, nonce: string): string {
  const bytes = createHmac("sha256", secret.reveal()).update(`${purpose}\n${subject}\n${nonce}`).digest();
  if (purpose === "reset") return bytes.toString("hex").slice(0, RESET_CHARS);
  let number = bytes.readBigUInt64BE();
  const base = BigInt(CODE_ALPHABET.length);
  const letters = Array.from({ length: CODE_CHARS }, () => {
    const letter = CODE_ALPHABET[Number(number % base)] ?? "";
    number /= base;
    return letter;
  });
  return letters.join("");
}

/**
 * Returns the normal form of a code: codes are typed from a mail, so spaces around them and letter case do not matter.
 */
function normal(code: string): string {
  return code.trim().toLowerCase();
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
