import { randomBytes, timingSafeEqual } from "node:crypto";
import { hashInThread, type Cost } from "./hash-threads.ts";

export interface PasswordCheck {
  readonly isMatch: boolean;
  /** True if the stored form is older than the one that `hash` writes now. */
  readonly needsRehash: boolean;
}

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Checks a password. If there is no such account (`stored` is undefined), it takes as long as a wrong password. */
  verify(stored: string | undefined, password: string): Promise<PasswordCheck>;
}

/**
 * The second recommendation of RFC 9106, reduced to the OWASP minimum for servers: about 20 ms and 19 MiB per check.
 */
const COST: Cost = { memoryKib: 19_456, passes: 2, lanes: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const NO_MATCH: PasswordCheck = { isMatch: false, needsRehash: false };
/** bcrypt reads no more than this; longer passwords cannot have been stored by it. */
const BCRYPT_MAX_BYTES = 72;

/**
 * Uses argon2id in dedicated threads; bcrypt hashes of imported accounts are accepted and replaced at the next sign-in.
 */
export function createPasswords(cost: Cost = COST): Passwords {
  const hash = async (password: string) => {
    const salt = randomBytes(SALT_BYTES);
    return encode(cost, salt, await derive(password, salt, cost, TAG_BYTES));
  };
  let dummy: Promise<string> | undefined;
  const verifyUnknown = async (password: string) => {
    dummy ??= hash(randomBytes(16).toString("hex"));
    dummy.catch(() => (dummy = undefined));
    await verifyArgon(await dummy, password, cost);
    return NO_MATCH;
  };
  return {
    hash,
    async verify(stored, password) {
      if (stored === undefined) return verifyUnknown(password);
      if (/^\$2[aby]\$/.test(stored)) return verifyBcrypt(stored, password);
      return (await verifyArgon(stored, password, cost)) ?? verifyUnknown(password);
    },
  };
}

async function verifyBcrypt(stored: string, password: string): Promise<PasswordCheck> {
  if (Buffer.byteLength(password) > BCRYPT_MAX_BYTES) return NO_MATCH;
  const isMatch = (await hashInThread({ kind: "bcrypt", password, stored })) === true;
  return { isMatch, needsRehash: isMatch };
}

/** Checks an argon2id hash; undefined if the stored text is not one. */
async function verifyArgon(stored: string, password: string, wanted: Cost): Promise<PasswordCheck | undefined> {
  const parts = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(
    stored,
  );
  if (!parts) return undefined;
  const [, memory, passes, lanes, salt = "", tag = ""] = parts;
  const cost: Cost = { memoryKib: Number(memory), passes: Number(passes), lanes: Number(lanes) };
  const expected = Buffer.from(tag, "base64");
  const actual = await derive(password, Buffer.from(salt, "base64"), cost, expected.length);
  const isMatch = timingSafeEqual(expected, actual);
  const isCurrent = cost.memoryKib === wanted.memoryKib && cost.passes === wanted.passes && cost.lanes === wanted.lanes;
  return { isMatch, needsRehash: isMatch && !isCurrent };
}

async function derive(text: string, salt: Buffer, cost: Cost, tagLength: number): Promise<Buffer> {
  const password = text.normalize("NFC");
  const tag = await hashInThread({ kind: "argon2id", password, salt, cost, tagLength });
  if (typeof tag === "boolean") throw new Error("a hash was expected");
  return Buffer.from(tag.buffer, tag.byteOffset, tag.byteLength);
}

function encode(cost: Cost, salt: Buffer, tag: Buffer): string {
  const bare = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=${cost.lanes}$${bare(salt)}$${bare(tag)}`;
}
