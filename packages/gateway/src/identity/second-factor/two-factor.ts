import { Secret as OtpSecret, TOTP } from "otpauth";
import type { Kysely, Transaction } from "kysely";
import type { Clock } from "../../lib/clock.ts";
import { randomText } from "../../lib/ids.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Vault } from "../../storage/secrets/secrets.ts";
import { transact } from "../../storage/transaction.ts";
import { codeAttempt, type LoginGuard } from "../passwords/login-guard.ts";
import { secondFactor } from "../../storage/secrets/sealed-locations.ts";

export interface TwoFactorDeps {
  readonly db: Kysely<Schema>;
  readonly vault: Pick<Vault, "seal" | "open" | "hashKey">;
  readonly clock: Clock;
  readonly guard: LoginGuard;
  /** Name of this installation, as authenticators show it. */
  readonly issuer: () => string;
}

/** Writes what belongs to a change, in its transaction. */
type WriteAlso = (trx: Transaction<Schema>) => Promise<unknown>;

/** Codes of an authenticator (RFC 6238) as a second step of password sign-in. */
export interface TwoFactor {
  state(userId: number): Promise<{ readonly isOn: boolean; readonly codesLeft: number }>;
  /** Begins the set-up; throws `two_factor_already_enabled` if it is on. */
  begin(user: { readonly userId: number; readonly username: string }): Promise<{ secret: string; url: string }>;
  /**
   * Enables it and returns the recovery codes; throws `two_factor_already_enabled`, `two_factor_secret_missing`,
   * `too_many_failed_logins`, `second_factor_required` or `second_factor_wrong`.
   */
  confirm(userId: number, code: string, also?: WriteAlso): Promise<string[]>;
  /** Throws `two_factor_not_enabled`, `too_many_failed_logins`, `second_factor_required` or `second_factor_wrong`. */
  renewCodes(userId: number, code: string, also?: WriteAlso): Promise<string[]>;
  /** Throws `two_factor_not_enabled`, `too_many_failed_logins`, `second_factor_required` or `second_factor_wrong`. */
  disable(userId: number, code: string, also?: WriteAlso): Promise<void>;
  /**
   * Passes if it is off, or for a code that was never used before; else throws `too_many_failed_logins`,
   * `second_factor_required` or `second_factor_wrong`.
   */
  pass(userId: number, code: string): Promise<void>;
}

/** Sealed as JSON in `users.totp_secret`. */
interface Stored {
  /** Base32. */
  readonly secret: string;
  readonly isOn: boolean;
  /** The latest time step of an accepted code; codes of that step and older ones are refused. */
  readonly lastStep: number;
  /** HMACs of the remaining recovery codes. */
  readonly recovery: readonly string[];
}

interface Row {
  readonly sealed: string;
  readonly stored: Stored;
}

const STEP_SECONDS = 30;
/** Codes of one time step before and after now are accepted, because clocks differ. */
const WINDOW = 1;
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** Contains no characters that look alike. */
const RECOVERY_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const RECOVERY_CHARS = 10;

export function createTwoFactor(deps: TwoFactorDeps): TwoFactor {
  const { vault } = deps;
  const inTurn = <T>(userId: number, work: () => Promise<T>) => deps.guard.inTurn(codeAttempt(userId), work);
  const switchedOn = async (userId: number): Promise<Row> => {
    const row = await read(deps, userId);
    if (!row?.stored.isOn) throw new Refusal("two_factor_not_enabled");
    return row;
  };
  return {
    async state(userId) {
      const row = await read(deps, userId);
      return row?.stored.isOn ? { isOn: true, codesLeft: row.stored.recovery.length } : { isOn: false, codesLeft: 0 };
    },
    async begin({ userId, username }) {
      const row = await read(deps, userId);
      if (row?.stored.isOn) throw new Refusal("two_factor_already_enabled");
      const secret = new OtpSecret({ size: SECRET_BYTES }).base32;
      await write(deps, userId, row, { secret, isOn: false, lastStep: 0, recovery: [] });
      return { secret, url: createTotp(secret, deps.issuer(), username).toString() };
    },
    async confirm(userId, code, also) {
      const row = await read(deps, userId);
      if (!row) throw new Refusal("two_factor_secret_missing");
      if (row.stored.isOn) throw new Refusal("two_factor_already_enabled");
      const { codes, hashes } = recoveryCodes(vault);
      await inTurn(userId, () => spend(deps, userId, row, { code, change: { isOn: true, recovery: hashes }, also }));
      return codes;
    },
    async renewCodes(userId, code, also) {
      const { codes, hashes } = recoveryCodes(vault);
      const row = await switchedOn(userId);
      await inTurn(userId, () => spend(deps, userId, row, { code, change: { recovery: hashes }, also }));
      return codes;
    },
    async disable(userId, code, also) {
      const row = await switchedOn(userId);
      await inTurn(userId, () => spend(deps, userId, row, { code, change: undefined, also }));
    },
    async pass(userId, code) {
      const row = await read(deps, userId);
      if (row?.stored.isOn) await inTurn(userId, () => spend(deps, userId, row, { code, change: {} }));
    },
  };
}

interface Spending {
  readonly code: string;
  /** Written together with the use of the code; undefined removes everything. */
  readonly change: Partial<Stored> | undefined;
  readonly also?: WriteAlso | undefined;
}

/**
 * Consumes a code; if several calls use the same code at once, only one succeeds. Wrong codes count like wrong
 * passwords.
 */
async function spend(deps: TwoFactorDeps, userId: number, row: Row, { code, change, also }: Spending): Promise<void> {
  const attempt = codeAttempt(userId);
  if (code.trim() === "")
    throw new Refusal("second_factor_required", { field: "code", siblings: { two_factor: true } });
  if (await deps.guard.isLocked(attempt)) throw new Refusal("too_many_failed_logins");
  const left = use(deps, row.stored, code.replace(/[\s-]/g, "").toLowerCase());
  const isTaken =
    left !== undefined && (await writeWith(deps, userId, row, { next: change && { ...left, ...change }, also }));
  if (isTaken) return deps.guard.succeeded(attempt);
  await deps.guard.failed(attempt);
  throw new Refusal("second_factor_wrong", { field: "code", siblings: { two_factor: true } });
}

/** Returns the second factor after the use of the code; undefined if the code is wrong. */
function use({ clock, vault }: TwoFactorDeps, stored: Stored, code: string): Stored | undefined {
  if (!/^\d{6}$/.test(code)) {
    const hash = vault.hashKey(code);
    if (!stored.isOn || !stored.recovery.includes(hash)) return undefined;
    return { ...stored, recovery: stored.recovery.filter((other) => other !== hash) };
  }
  const delta = createTotp(stored.secret).validate({ token: code, timestamp: clock.now(), window: WINDOW });
  if (delta === null) return undefined;
  const step = Math.floor(clock.now() / 1000 / STEP_SECONDS) + delta;
  return step > stored.lastStep ? { ...stored, lastStep: step } : undefined;
}

function createTotp(secret: string, issuer = "", label = ""): TOTP {
  return new TOTP({ issuer, label, secret: OtpSecret.fromBase32(secret), period: STEP_SECONDS, digits: 6 });
}

function recoveryCodes(vault: TwoFactorDeps["vault"]): { readonly codes: string[]; readonly hashes: string[] } {
  const plain = Array.from({ length: RECOVERY_CODES }, () => randomText(RECOVERY_CHARS, RECOVERY_ALPHABET));
  const half = RECOVERY_CHARS / 2;
  return {
    codes: plain.map((code) => `${code.slice(0, half)}-${code.slice(half)}`),
    hashes: plain.map((code) => vault.hashKey(code)),
  };
}

async function read({ db, vault }: TwoFactorDeps, userId: number): Promise<Row | undefined> {
  const row = await db.selectFrom("users").select("totp_secret").where("id", "=", userId).executeTakeFirst();
  const sealed = row?.totp_secret ?? undefined;
  return sealed === undefined
    ? undefined
    : { sealed, stored: JSON.parse(vault.open(sealed, secondFactor(userId))) as Stored };
}

/** Like `write`, with what belongs to the change in one transaction. */
async function writeWith(
  deps: TwoFactorDeps,
  userId: number,
  was: Row,
  { next, also }: { readonly next: Stored | undefined; readonly also: WriteAlso | undefined },
): Promise<boolean> {
  if (!also) return write(deps, userId, was, next);
  return transact(deps.db, async (trx) => {
    const isWritten = await write({ ...deps, db: trx }, userId, was, next);
    if (isWritten) await also(trx);
    return isWritten;
  });
}

/** Writes the row; returns false if it was changed since `was` was read. */
async function write(
  { db, vault }: TwoFactorDeps,
  userId: number,
  was: Row | undefined,
  next: Stored | undefined,
): Promise<boolean> {
  const change = db
    .updateTable("users")
    .set({ totp_secret: next ? vault.seal(JSON.stringify(next), secondFactor(userId)) : null });
  const own = change.where("id", "=", userId);
  const same = was ? own.where("totp_secret", "=", was.sealed) : own.where("totp_secret", "is", null);
  return (await same.executeTakeFirstOrThrow()).numUpdatedRows === 1n;
}
