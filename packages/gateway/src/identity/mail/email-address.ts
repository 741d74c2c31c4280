const MAX_CHARS = 254;
const MAX_LOCAL_CHARS = 64;
const ADDRESS =
  /^[^\s@"(),:;<>[\]\\\p{Cc}]+@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/u;

/** Returns an address in the form in which it is stored and compared; undefined if it is invalid. */
export function parseEmail(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  const local = address.slice(0, address.lastIndexOf("@"));
  const isDotted = local.startsWith(".") || local.endsWith(".") || local.includes("..");
  if (address.length > MAX_CHARS || local.length > MAX_LOCAL_CHARS || isDotted) return undefined;
  return ADDRESS.test(address) ? address : undefined;
}

/** Returns the parts before and after the last `@`; not validated. */
export function emailParts(address: string): { readonly local: string; readonly domain: string } {
  const at = address.lastIndexOf("@");
  return { local: address.slice(0, at), domain: address.slice(at + 1) };
}
