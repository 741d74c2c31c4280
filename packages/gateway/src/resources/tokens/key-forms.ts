import { parseApiKey } from "../../identity/keys/api-key.ts";
import { hashedForms, importedKey } from "../../storage/secrets/token-key-forms.ts";

/** Returns the texts that are hashed for a key as a person pastes it, such as `Bearer sk-…` or with a pinned channel. */
export function keyForms(pasted: string): readonly string[] {
  const text = pasted.trim().replace(/^Bearer\s+/i, "");
  const own = parseApiKey(text);
  return own === "malformed" ? [importedKey(text)] : [...hashedForms(own.key), importedKey(text)];
}
