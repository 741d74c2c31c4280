import type { Token } from "@fairway/wire";

/** Requests and tokens per minute, and parallel requests, of a token or a user. */
export type Limits = Token["limits"];

/** Limits as typed; "" = none. */
export interface LimitsDraft {
  readonly rpm: string;
  readonly tpm: string;
  readonly concurrency: string;
}

export const LIMIT_NAMES = ["rpm", "tpm", "concurrency"] as const;
type LimitName = (typeof LIMIT_NAMES)[number];

export const NO_LIMITS: LimitsDraft = { rpm: "", tpm: "", concurrency: "" };

export function toLimitsDraft(limits: Limits): LimitsDraft {
  const text = (value: number | undefined) => (value === undefined ? "" : String(value));
  return { rpm: text(limits.rpm), tpm: text(limits.tpm), concurrency: text(limits.concurrency) };
}

function isLimit(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number.isSafeInteger(Number(text));
}

/** Returns the members that are neither blank nor a whole number above 0. */
export function wrongLimits(draft: LimitsDraft): LimitName[] {
  return LIMIT_NAMES.filter((name) => draft[name].trim() !== "" && !isLimit(draft[name].trim()));
}

/** Returns the limits to send: blank members are omitted, which removes them. */
export function toLimits(draft: LimitsDraft): Limits {
  const given = LIMIT_NAMES.filter((name) => isLimit(draft[name].trim()));
  return Object.fromEntries(given.map((name) => [name, Number(draft[name].trim())]));
}
