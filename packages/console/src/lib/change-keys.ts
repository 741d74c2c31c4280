const BYTES = 16;

function newKey(): string {
  // A page without TLS has no randomUUID.
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const keys = new WeakMap<object, string>();

/** Returns the idempotency key of an intended change: the same for every attempt. */
export function getChangeKey(change: object): string {
  const key = keys.get(change) ?? newKey();
  keys.set(change, key);
  return key;
}
