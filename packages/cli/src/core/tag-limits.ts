import type { TagLimits } from "@fairway/wire";
import { CliError, EXIT } from "./exit.ts";

/** The flag of tokens, users and teams; that of tokens is in the table of their fields. */
export const TAG_LIMITS_FLAG = "--tag-limits <json>";
export const TAG_LIMITS_ABOUT =
  'limits by tag value or end user, such as {"end_user": {"*": {"rpm": 20}, "42": {"blocked": true}}}; {} = none';

/** Reads the value of the flag; the gateway checks its members. */
export function readTagLimits(text: string): TagLimits {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as TagLimits;
  } catch {
    // The message below says what is wrong.
  }
  throw new CliError("--tag-limits is no JSON object", EXIT.usage, 'write it like {"app":{"shop":{"tpm":100000}}}');
}

/** Returns `app=shop tpm 100000, end_user=42 blocked`; "" without any. */
export function formatTagLimits(limits: TagLimits | undefined): string {
  return Object.entries(limits ?? {})
    .flatMap(([key, values]) =>
      Object.entries(values).map(([value, { blocked, ...numbers }]) => {
        const words = Object.entries(numbers).map(([name, most]) => `${name} ${most}`);
        return [`${key}=${value}`, ...words, ...(blocked ? ["blocked"] : [])].join(" ");
      }),
    )
    .join(", ");
}
