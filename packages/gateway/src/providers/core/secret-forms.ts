/**
 * Finds a secret in every form in which a server may repeat it: as it is, in hexadecimal, base64, percent or JSON
 * escapes. Upper and lower case count as equal, because servers change the case.
 */

/** Shortest piece of a secret that is hidden, in characters. */
export const PIECE = 8;

/** Finds parts of a text that also occur in one of the secrets. */
export interface PieceFinder {
  /** Returns the text with `hidden` in place of each word that contains such a part. */
  hide(text: string, hidden: string): string;
}

export function createPieceFinder(secrets: readonly string[]): PieceFinder {
  const pieces = new Set<string>();
  for (const secret of secrets)
    for (const form of listSecretForms(secret)) {
      const lower = form.toLowerCase();
      for (let at = 0; at + PIECE <= lower.length; at++) pieces.add(lower.slice(at, at + PIECE));
    }
  return {
    hide(text, hidden) {
      if (pieces.size === 0 || text.length < PIECE) return text;
      const lower = text.toLowerCase();
      // Letters whose lower case has another length would shift every later position.
      return lower.length === text.length ? hideIn(text, lower, pieces, hidden) : hideIn(lower, lower, pieces, hidden);
    },
  };
}

function hideIn(text: string, lower: string, pieces: ReadonlySet<string>, hidden: string): string {
  let result = "";
  let done = 0;
  for (let at = 0; at + PIECE <= lower.length; at++) {
    if (!pieces.has(lower.slice(at, at + PIECE))) continue;
    let end = at + PIECE;
    while (end < lower.length && pieces.has(lower.slice(end - PIECE + 1, end + 1))) end++;
    const [from, to] = wordAround(text, { at, end, done });
    result += text.slice(done, from) + hidden;
    done = to;
    at = to - 1;
  }
  return result + text.slice(done);
}

/**
 * Extends a match to the whole word, because the rest of an encoded word reveals the rest of the secret: base64 letters
 * span several bytes.
 */
function wordAround(text: string, { at, end, done }: { at: number; end: number; done: number }): [number, number] {
  let from = at;
  let to = end;
  while (from > done && isWordCharacter(text.charCodeAt(from - 1))) from--;
  while (to < text.length && isWordCharacter(text.charCodeAt(to))) to++;
  while (to < text.length && text[to] === "=") to++;
  return [from, to];
}

/** True for letters, digits, `+`, `/`, `-` and `_`. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    code === 43 ||
    code === 45 ||
    code === 47 ||
    code === 95
  );
}

function listSecretForms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const hex = bytes.toString("hex");
  const pairs = hex.match(/../g) ?? [];
  const json = JSON.stringify(secret).slice(1, -1);
  const uri = encodeURIComponent(secret.toWellFormed());
  return [
    secret,
    uri,
    uri.replaceAll("%20", "+"),
    json,
    json.replaceAll("/", "\\/"),
    json.replace(/[<>&'+=/\u007f-\uffff]/g, unicodeEscape),
    secret.replace(/[<>&"'+=]/g, (letter) => `&#${letter.charCodeAt(0)};`),
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    hex,
    pairs.map((pair) => `%${pair}`).join(""),
    pairs.map((pair) => `\\x${pair}`).join(""),
    pairs.map((pair) => `\\u00${pair}`).join(""),
    pairs.join(" "),
    pairs.join(":"),
    ...[0, 1, 2].flatMap((shift) => base64At(bytes, shift)),
  ];
}

function unicodeEscape(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Returns the base64 letters that depend on these bytes alone, wherever the bytes are in the encoded text. */
function base64At(bytes: Buffer, shift: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
  const from = [0, 2, 3][shift] ?? 0;
  const rest = (shift + bytes.length) % 3;
  const core = encoded.slice(from, rest === 0 ? undefined : rest === 1 ? -3 : -2);
  return [core, core.replaceAll("+", "-").replaceAll("/", "_"), encodeURIComponent(core)];
}
