import { createHmac } from "node:crypto";
import { refusedKey } from "../../core/errors/refused-key.ts";

const LIFE_SECONDS = 1_800;
/** Tokens are valid a few seconds before their creation, because clocks differ. */
const EARLY_SECONDS = 5;

/** Builds a token from `accessKey|secretKey`; a key without `|` is already a token. Its times are in seconds. */
export function klingToken(key: string, now: number): string {
  if (!key.includes("|")) return key;
  const [access = "", secret = "", ...more] = key.split("|").map((part) => part.trim());
  if (access === "" || secret === "" || more.length > 0)
    throw refusedKey("The key must have the form accessKey|secretKey.");
  const at = Math.floor(now / 1000);
  const content = [
    { alg: "HS256", typ: "JWT" },
    { iss: access, exp: at + LIFE_SECONDS, nbf: at - EARLY_SECONDS },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}
