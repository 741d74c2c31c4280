/** Parts of the own account, in the order of their page. */
export const PERSONAL_PARTS = [
  "profile",
  "models",
  "accounts",
  "password",
  "twoFactor",
  "passkeys",
  "accessToken",
  "sessions",
  "appearance",
] as const;

export type PersonalPart = (typeof PERSONAL_PARTS)[number];

/** The anchor of a part. */
export function personalId(part: PersonalPart): string {
  return `own-${part}`;
}
