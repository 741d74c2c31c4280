/** Parts of the user's account page, in order. */
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
