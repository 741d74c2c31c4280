import { characters, DISPLAY_NAME_MAX, fill, REASONS } from "@fairway/wire";
import { checkPassword, checkUsername } from "../../identity/accounts/accounts.ts";
import { Refusal } from "../../lib/refusal.ts";

/** A user name, trimmed; `username_invalid` otherwise. */
export function readUsername(text: string): string {
  const username = text.trim();
  const code = checkUsername(username);
  if (code) throw new Refusal(code, { field: "username" });
  return username;
}

/** `password_too_short` or `password_too_long` when the text is no password. */
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

/** A balance as forms send it; `quota_invalid` unless it is an integer from 0 on. */
export function readQuota(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Refusal("quota_invalid", { field: "quota" });
}

/** `undefined` for members that are absent or empty: they stay as they are. */
export function dropEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
