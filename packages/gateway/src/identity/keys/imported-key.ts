import type { IncomingHttpHeaders } from "node:http";
import type { OptionValues } from "@fairway/wire";
import type { TokenCache, TokenRecord } from "../../snapshot/types.ts";
import { importedKey } from "../../storage/secrets/token-key-forms.ts";
import { readKeyText } from "./api-key.ts";

/**
 * Keys that another gateway issued and whose SHA-256 alone is known. They are looked up only where an import
 * brought some: elsewhere a text of another form is refused without a question to the database.
 */

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
