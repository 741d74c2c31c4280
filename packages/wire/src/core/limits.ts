import * as z from "zod/mini";
import { fill, REASONS } from "./reasons.ts";

const limit = z.optional(z.int().check(z.minimum(1)));

/** Requests and tokens per minute, and concurrent requests; an absent member means no limit. */
const members = { rpm: limit, tpm: limit, concurrency: limit };

/** Requests and tokens per minute, and concurrent requests. An absent member means no limit. */
export interface Limits {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
}

/** Limits of a token or a user in responses; {} = none of its own. */
export const LimitsView = z.object(members);
/** Limits in a form; `limitsFault` refuses unknown members. */
export const LimitsInput = z.optional(z.looseObject(members));

/** Limits in a document; {} = none. */
export const LimitsSpec = z.optional(z.strictObject(members));

const NAMES: readonly string[] = Object.keys(members);

/** The invalid member, "" for the whole value, and what is wrong with it. */
export interface LimitsFault {
  readonly member: string;
  readonly reason: string;
}

export function limitsFault(value: unknown): LimitsFault | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { member: "", reason: REASONS.object };
  for (const [member, one] of Object.entries(value)) {
    if (!NAMES.includes(member)) return { member, reason: `is unknown; limits are ${NAMES.join(", ")}` };
    if (typeof one !== "number" || !Number.isSafeInteger(one)) return { member, reason: REASONS.integer };
    if (one < 1) return { member, reason: fill(REASONS.atLeast, { n: 1 }) };
  }
  return undefined;
}

/** Returns limits from the JSON text of a row; undefined if there are none or they cannot be read. */
export function storedLimits(text: string | null | undefined): Limits | undefined {
  if (!text) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return limitsFault(value) ? undefined : (value as Limits);
  } catch {
    return undefined;
  }
}

/** Returns the text for `storedLimits`; null if nothing is limited. */
export function limitsText(limits: Readonly<Record<string, unknown>>): string | null {
  return Object.keys(limits).length === 0 ? null : JSON.stringify(limits);
}
