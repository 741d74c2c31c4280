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

const VERSION = "v1";
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FILE_NAME = "encryption.key";

export interface VaultKey {
  readonly id: string;
  /** 32 bytes, base64. */
  readonly key: Secret;
}

/** Seals what must be read again, hashes what must only be found again. */
export interface Vault {
  /** `v1:<key id>:<base64 of nonce, text and tag>`, sealed with the active key. */
  seal(text: string): string;
  /** Throws a VaultError for a key that is not here and for a text that was changed. */
  open(sealed: string): string;
  /** HMAC-SHA-256, hex. Follows from the last key, so that new keys do not change what is stored. */
  hashKey(text: string): string;
  readonly activeKeyId: string;
  /** True when the text is sealed with another key than the active one. */
  needsReseal(sealed: string): boolean;
}

export class VaultError extends Error {
  override readonly name = "VaultError";
}

/** `keys` newest first: the first seals, all open, the last one keys the hashes. */
export function createVault({ keys }: { readonly keys: readonly VaultKey[] }): Vault {
  const [active] = keys;
  const last = keys.at(-1);
  if (!active || !last) throw new VaultError("there is no key");
  const sealing = new Map(keys.map(({ id, key }) => [id, derive(key, "fairway sealing")]));
  const hashing = derive(last.key, "fairway hashing");
  const keyOf = (id: string) => {
    const key = sealing.get(id);
    if (key) return key;
    throw new VaultError(
      `a value in the database is sealed with the key ${id}, which is not among those given (${keys.map((it) => it.id).join(", ")}): add it to FAIRWAY_ENCRYPTION_KEY`,
    );
  };
  return {
    activeKeyId: active.id,
    seal: (text) => seal(text, active.id, keyOf(active.id)),
    open(sealed) {
      const { id, content } = envelopeOf(sealed);
      return unseal(content, id, keyOf(id));
    },
    hashKey: (text) => createHmac("sha256", hashing).update(text).digest("hex"),
    needsReseal: (sealed) => envelopeOf(sealed).id !== active.id,
  };
}

/** True for texts that `seal` made. */
export function isSealed(text: string): boolean {
  return text.startsWith(`${VERSION}:`);
}

/**
 * The keys of a single process that was given none: a file in its data folder, made at the first start.
 * One `id:base64` a line, newest first.
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

/** The key id is authenticated too: a text cannot be passed off as sealed with another key. */
function seal(text: string, id: string, key: KeyObject): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(id));
  const content = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${VERSION}:${id}:${content.toString("base64")}`;
}

function unseal(content: Buffer, id: string, key: KeyObject): string {
  const textEnd = content.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, content.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(id))
    .setAuthTag(content.subarray(textEnd));
  try {
    return decipher.update(content.subarray(NONCE_BYTES, textEnd), undefined, "utf8") + decipher.final("utf8");
  } catch (cause) {
    throw new VaultError(
      `a value in the database does not open with the key ${id}: it was sealed with another key of that name, or changed`,
      { cause },
    );
  }
}

function envelopeOf(sealed: string): { readonly id: string; readonly content: Buffer } {
  const [version, id, text] = sealed.split(":");
  const content = Buffer.from(text ?? "", "base64");
  if (version !== VERSION || id === undefined || content.length < NONCE_BYTES + TAG_BYTES) {
    throw new VaultError("a value in the database is not sealed as it should be");
  }
  return { id, content };
}
