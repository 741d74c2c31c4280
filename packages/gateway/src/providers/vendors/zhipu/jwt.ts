import { createHmac } from "node:crypto";
import { refusedKey } from "../../core/errors/refused-key.ts";

const LIFE_MS = 86_400_000;

/**
 * Builds a token of the vendor's own form: times in milliseconds, `sign_type` in the header. The key is `id.secret`.
 */
export function zhipuToken(key: string, now: number, lifeMs = LIFE_MS): string {
  const [id = "", secret = "", ...more] = key.split(".");
  if (id === "" || secret === "" || more.length > 0) throw refusedKey("The key must have the form id.secret.");
  const content = [
    { alg: "HS256", sign_type: "SIGN" },
    { api_key: id, exp: now + lifeMs, timestamp: now },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}
