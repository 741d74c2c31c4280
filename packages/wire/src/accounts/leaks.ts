import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { endpoint } from "../core/endpoint.ts";

/** Keys in one report. */
export const MAX_LEAKS = 1_000;

/** What a scanner sends of a key that it found, in the format of GitHub's partners. */
export const LeakReport = z
  .array(
    z.object({
      token: textUpTo(4096),
      type: textUpTo(191),
      url: z.optional(z.nullable(textUpTo(2048))),
      source: z.optional(z.nullable(textUpTo(191))),
    }),
  )
  .check(z.minLength(1), z.maxLength(MAX_LEAKS));
export type LeakReport = z.output<typeof LeakReport>;

/** The answer for one key: whether it is or was a key of this gateway. */
export interface LeakVerdict {
  /** SHA-256 of the reported text, hex. */
  readonly token_hash: string;
  readonly token_type: string;
  readonly label: "true_positive" | "false_positive";
}

export const leakReport = endpoint({
  name: "leakReport",
  method: "POST",
  path: "/api/leak",
  access: "none",
  answer: "raw",
  summary:
    "Takes the signed report of a scanner that found keys in public places, answers which are keys of this gateway, and does with them what LeakAction says.",
  fails: ["leak_reports_disabled", "leak_signature_wrong", "leak_report_invalid", "too_many_requests"],
});
