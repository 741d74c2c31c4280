import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "../../lib/secret.ts";
import type { SealedLocation } from "./sealed-locations.ts";

/** Sealed texts are bound to their row and column; those of version 1 are bound to the key's id alone. */
const VERSION = "v2";
const UNBOUND = "v1";
const SEALED = /^v[12]:[\w-]{1,32}:[\w+/]+=*$/;
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FILE_NAME = "encryption.key";

export interface VaultKey {
  readonly id: string;
  /** 32 bytes, base64. */
  readonly key: Secret;
  /** True if the key only opens texts that an earlier version sealed, and finds texts that it hashed. */
  readonly isLegacy?: boolean;
}

/** Seals secrets that must be readable, and hashes secrets that must only be found. */
export interface Vault {
  /**
   * Returns `v2:<key id>:<base64 of nonce, text and tag>`, sealed with the active key; opens only for the same
   * location.
   */
  seal(text: string, location: SealedLocation): string;
  /** Opens a sealed text. Throws a VaultError for an unknown key and for a text that was changed or moved. */
  open(sealed: string, location: SealedLocation): string;
  /** Returns HMAC-SHA-256, hex, with the last key, so that new keys do not change stored hashes. */
  hashKey(text: string): string;
  /**
   * True if `hash` is the hash of the text. A match with the fast key of an earlier version makes `hashKey` use that
   * key from then on, so that stored hashes are found.
   */
  matchesHash(text: string, hash: string): boolean;
  readonly activeKeyId: string;
  /** True if the text is sealed with another key than the active one, or not bound to its location. */
  needsReseal(sealed: string): boolean;
}

/** Thrown for a stored secret that cannot be decrypted: another key, another row, or changed bytes. */
export class VaultError extends Error {
  override readonly name = "VaultError";
}

/** Creates a vault. `keys` are newest first: the first one seals, all open, the last one keys the hashes. */
export function createVault({ keys }: { readonly keys: readonly VaultKey[] }): Vault {
  const [active] = keys;
  const last = keys.at(-1);
  if (!active || !last) throw new VaultError("there is no key");
  const hashing = createHashing(keys, last);
  const sealing = new Map(keys.map(({ id, key }) => [id, derive(key, "fairway sealing")]));
  const requireKey = (id: string) => {
    const key = sealing.get(id);
    if (key) return key;
    throw new VaultError(
      `a value in the database is sealed with the key ${id}, which is not among those given (${keys.map((it) => it.id).join(", ")}): add it to FAIRWAY_ENCRYPTION_KEY`,
    );
  };
  return {
    activeKeyId: active.id,
    seal: (text, location) => seal(text, { id: active.id, location }, requireKey(active.id)),
    open(sealed, location) {
      const { id, content, isBound } = parseEnvelope(sealed);
      return unseal(content, { id, location: isBound ? location : undefined }, requireKey(id));
    },
    ...hashing,
    needsReseal(sealed) {
      const { id, isBound } = parseEnvelope(sealed);
      return id !== active.id || !isBound;
    },
  };
}

function createHashing(keys: readonly VaultKey[], last: VaultKey): Pick<Vault, "hashKey" | "matchesHash"> {
  const lasting = derive((keys.findLast((key) => !key.isLegacy) ?? last).key, "fairway hashing");
  const legacy = last.isLegacy ? derive(last.key, "fairway hashing") : undefined;
  let used = lasting;
  return {
    hashKey: (text) => hashWith(used, text),
    matchesHash(text, hash) {
      if (hashWith(used, text) === hash) return true;
      if (!legacy || hashWith(legacy, text) !== hash) return false;
      used = legacy;
      return true;
    },
  };
}

function hashWith(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

/** True for texts in the format of `seal`. */
export function isSealed(text: string): boolean {
  return SEALED.test(text);
}

/**
 * Returns the keys of a single process that has none in its configuration, from a file in its data folder that the
 * first start creates. The file has one `id:base64` per line, newest first.
 */
export function keysFromFile(dataDir: string): VaultKey[] {
  const path = join(dataDir, FILE_NAME);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `k${randomBytes(4).toString("hex")}:${randomBytes(KEY_BYTES).toString("base64")}\n`, {
      flag: "wx",
      mode: 0o600,
    });
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "EEXIST") throw error;
  }
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new VaultError(`${path} is empty: restore it from a backup`);
  return lines.map((line) => {
    const [id = "", key = ""] = line.trim().split(":");
    if (Buffer.from(key, "base64").length !== KEY_BYTES)
      throw new VaultError(`${path} is damaged: restore it from a backup`);
    return { id, key: new Secret(key) };
  });
}

function derive(key: Secret, purpose: string): KeyObject {
  const bytes = hkdfSync("sha256", Buffer.from(key.reveal(), "base64"), "", purpose, KEY_BYTES);
  return createSecretKey(Buffer.from(bytes));
}

interface Binding {
  readonly id: string;
  /** Undefined for texts of version 1. */
  readonly location: SealedLocation | undefined;
}

/**
 * Returns the bytes that authenticate key id and location, so that a text cannot pass as that of another key, row or
 * column.
 */
function bindingBytes({ id, location }: Binding): Buffer {
  return Buffer.from(location === undefined ? id : `${VERSION}:${id}:${location}`);
}

function seal(text: string, binding: Binding, key: KeyObject): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bindingBytes(binding));
  const content = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${VERSION}:${binding.id}:${content.toString("base64")}`;
}

function unseal(content: Buffer, binding: Binding, key: KeyObject): string {
  const textEnd = content.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, content.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(bindingBytes(binding))
    .setAuthTag(content.subarray(textEnd));
  try {
    return decipher.update(content.subarray(NONCE_BYTES, textEnd), undefined, "utf8") + decipher.final("utf8");
  } catch (cause) {
    throw new VaultError(
      `a value in the database does not open with the key ${binding.id}: it was sealed with another key of that name or for another row, or changed`,
      { cause },
    );
  }
}

interface Envelope {
  readonly id: string;
  readonly content: Buffer;
  readonly isBound: boolean;
}

function parseEnvelope(sealed: string): Envelope {
  const [version, id, text] = sealed.split(":");
  const content = Buffer.from(text ?? "", "base64");
  const isKnown = version === VERSION || version === UNBOUND;
  if (!isKnown || id === undefined || content.length < NONCE_BYTES + TAG_BYTES) {
    throw new VaultError("a value in the database is not sealed as it should be");
  }
  return { id, content, isBound: version === VERSION };
}
