import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { OptionValues } from "@fairway/wire";
import type { TokenCache, TokenRecord } from "../../snapshot/types.ts";
import { readKeyText } from "./api-key.ts";

/**
 * Keys that another gateway issued and whose SHA-256 alone is known. They are looked up only where an import
 * brought some: elsewhere a text of another form is refused without a question to the database.
 */

/** The text whose keyed hash is `tokens.key_hash` of an imported key. Its prefix `sk-` may be missing. */
export function importedKey(text: string): string {
  const whole = text.startsWith("sk-") ? text : `sk-${text}`;
  return importedDigest(createHash("sha256").update(whole).digest("hex"));
}

/** The same from the SHA-256 of the whole key (hex, lower case), as the other gateway stores it. */
export function importedDigest(sha256: string): string {
  return `sha256:${sha256}`;
}

export interface ImportedKeyDeps {
  readonly tokens: Pick<TokenCache, "find">;
  readonly hashKey: (key: string) => string;
  readonly options: () => OptionValues;
}

/** The token of a key that was imported by its SHA-256; undefined unless *CarriedKeysEnabled* is on. */
export function findImportedKey(
  { tokens, hashKey, options }: ImportedKeyDeps,
  headers: IncomingHttpHeaders,
  url: string,
): Promise<TokenRecord | undefined> {
  if (!options().CarriedKeysEnabled) return Promise.resolve(undefined);
  return tokens.find(hashKey(importedKey(readKeyText(headers, url))));
}
