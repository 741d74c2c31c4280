import type { useTexts } from "./texts.ts";

const ROLE_TEXT = { owner: "owner", admin: "admin", member: "member", viewer: "viewer" } as const;

/** Returns the name of a role in a team; one of a later release is shown as it is. */
export function roleText(t: ReturnType<typeof useTexts>, role: string): string {
  const known = Object.entries(ROLE_TEXT).find(([name]) => name === role);
  return known ? t(known[1]) : role;
}
