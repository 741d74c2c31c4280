import { createHash, scryptSync } from "node:crypto";
import { Secret } from "../lib/secret.ts";

export interface EncryptionKey {
  /** The id is part of every value that is sealed with this key. */
  readonly id: string;
  /** 32 bytes, base64. */
  readonly key: Secret;
  /** True if the key only opens texts that an earlier version sealed, and finds texts that it hashed. */
  readonly isLegacy?: boolean;
}

const KEY_BYTES = 32;
const PAIR = /^([\w-]{1,32}):([^\s,]*)[\s,]*/;
/** 256 random bits as `openssl rand -hex 32` prints them, which cannot be guessed. */
const RANDOM = /^[0-9a-f]{64}$/i;
/** A guess takes 32 MiB and a quarter of a second. */
const SLOW = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
/** Every replica derives the same key before it can ask the database, so the salt is fixed. */
const SALT = "fairway encryption key";

/**
 * `id:base64,id:base64`, newest first; the last entry may be a secret of any form. The id of a secret is derived from
 * it, so that another secret is recognised as another key.
 */
export function encryptionKeys(value: string): readonly EncryptionKey[] {
  const keys: EncryptionKey[] = [];
  let rest = value.trim();
  for (let pair = PAIR.exec(rest); pair !== null; pair = PAIR.exec(rest)) {
    keys.push(parseKey(pair[1] ?? "", pair[2] ?? ""));
    rest = rest.slice(pair[0].length);
  }
  if (rest !== "") keys.push(...deriveKeys(rest));
  if (new Set(keys.map((key) => key.id)).size < keys.length) throw new Error("give every key an id of its own");
  return keys;
}

function parseKey(id: string, key: string): EncryptionKey {
  const bytes = Buffer.from(key, "base64");
  if (bytes.length === KEY_BYTES) return { id, key: new Secret(bytes.toString("base64")) };
  throw new Error(
    `give id:KEY pairs separated by commas, each KEY 32 bytes in base64 (openssl rand -base64 32); that of ${id} has ${bytes.length}`,
  );
}

/** Derives a slow key from a passphrase; the fast key of earlier versions remains for the texts that they wrote. */
function deriveKeys(secret: string): EncryptionKey[] {
  if (secret.length < 16) throw new Error("give at least 16 characters, or id:KEY with a base64 key of 32 bytes");
  const fast = createNamedKey("s", createHash("sha256").update(secret).digest());
  if (RANDOM.test(secret)) return [fast];
  return [createNamedKey("p", scryptSync(secret, SALT, KEY_BYTES, SLOW)), { ...fast, isLegacy: true }];
}

function createNamedKey(prefix: string, key: Buffer): EncryptionKey {
  const id = `${prefix}${createHash("sha256").update(key).digest("hex").slice(0, 8)}`;
  return { id, key: new Secret(key.toString("base64")) };
}
