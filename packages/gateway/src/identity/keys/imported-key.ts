import type { IncomingHttpHeaders } from "node:http";
import type { OptionValues } from "@fairway/wire";
import type { TokenCache, TokenRecord } from "../../snapshot/types.ts";
import { importedKey } from "../../storage/secrets/token-key-forms.ts";
import { readKeyText } from "./api-key.ts";

/**
 * Keys of another gateway, known only by their SHA-256. They are looked up only if an import brought some; otherwise a
 * text of another form is refused without a database query.
 */

export interface ImportedKeyDeps {
  readonly tokens: Pick<TokenCache, "find">;
  readonly hashKey: (key: string) => string;
  readonly options: () => OptionValues;
}

/** Returns the token of a key that was imported by its SHA-256; undefined unless *CarriedKeysEnabled* is on. */
export function findImportedKey(
  { tokens, hashKey, options }: ImportedKeyDeps,
  headers: IncomingHttpHeaders,
  url: string,
): Promise<TokenRecord | undefined> {
  if (!options().CarriedKeysEnabled) return Promise.resolve(undefined);
  return tokens.find(hashKey(importedKey(readKeyText(headers, url))));
}
