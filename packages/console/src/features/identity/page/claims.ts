/** Reads pasted claims: a JSON object, or the token itself, whose middle part is one. Undefined for other texts. */
export function parseClaims(text: string): Record<string, unknown> | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(trimmed) ?? [];
  try {
    const value: unknown = JSON.parse(payload === undefined ? trimmed : decode(payload));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function decode(base64url: string): string {
  const bytes = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
