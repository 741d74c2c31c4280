import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const MAX_AGE_SECONDS = 86_400;
const MAX_AHEAD_SECONDS = 300;

export interface TelegramLogin {
  readonly id: string;
  /** Identifies this login, so that it is accepted only once. */
  readonly hash: string;
  /** Epoch seconds after which the login is too old. */
  readonly expiresAt: number;
}

type Query = Readonly<Record<string, string | readonly string[]>>;

/** Returns the login that Telegram signed; undefined if anything about it is wrong. `now` is epoch seconds. */
export function readTelegramLogin(query: Query, botToken: string, now: number): TelegramLogin | undefined {
  const fields = Object.entries(query);
  if (!fields.every(isSingle)) return undefined;
  const { id = "", hash = "", auth_date: date = "" } = Object.fromEntries(fields);
  if (!/^\d{1,20}$/.test(id) || !/^\d{1,12}$/.test(date) || !/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const age = now - Number(date);
  if (age > MAX_AGE_SECONDS || age < -MAX_AHEAD_SECONDS || !isSigned(fields, botToken, hash)) return undefined;
  return { id, hash, expiresAt: Number(date) + MAX_AGE_SECONDS };
}

function isSingle(field: [string, string | readonly string[]]): field is [string, string] {
  return typeof field[1] === "string";
}

function isSigned(fields: readonly [string, string][], botToken: string, hash: string): boolean {
  const checked = fields
    .filter(([name]) => name !== "hash")
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
  const secret = createHash("sha256").update(botToken).digest();
  return timingSafeEqual(createHmac("sha256", secret).update(checked).digest(), Buffer.from(hash, "hex"));
}
