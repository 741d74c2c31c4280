import type { Vault } from "../../storage/secrets/secrets.ts";

/**
 * Derives the value that an upstream gets in place of one that a client chose: the same for the same user and a
 * different one for every other user, so that two users of a shared account never mean the same object.
 */
export type DeriveId = (userId: number, member: string, value: string) => string;

/** Some vendors accept at most 64 characters. */
const LENGTH = 40;

export function createDeriveId({ hashKey }: Pick<Vault, "hashKey">): DeriveId {
  return (userId, member, value) => hashKey(JSON.stringify(["client id 1", userId, member, value])).slice(0, LENGTH);
}
