import { characters, DISPLAY_NAME_MAX, fill, REASONS } from "@fairway/wire";
import { checkPassword, checkUsername } from "../../identity/accounts/accounts.ts";
import { Refusal } from "../../lib/refusal.ts";

/** Returns a trimmed user name; throws `username_invalid` if it is not valid. */
export function readUsername(text: string): string {
  const username = text.trim();
  const code = checkUsername(username);
  if (code) throw new Refusal(code, { field: "username" });
  return username;
}

/** Throws `password_too_short` or `password_too_long` if the text cannot be a password. */
export function readPassword(text: string): string {
  const code = checkPassword(text);
  if (code) throw new Refusal(code, { field: "password" });
  return text;
}

export function readDisplayName(text: string): string {
  if (characters(text) <= DISPLAY_NAME_MAX) return text;
  throw new Refusal("invalid_field", {
    field: "display_name",
    values: { field: "display_name", reason: fill(REASONS.tooLong, { n: DISPLAY_NAME_MAX }) },
  });
}

/** Returns a balance from a form; throws `quota_invalid` unless it is an integer of at least 0. */
export function readQuota(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Refusal("quota_invalid", { field: "quota" });
}

/** Returns undefined for absent or empty members, which do not change. */
export function dropEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
