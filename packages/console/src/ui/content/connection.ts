/** Returns the address that applications outside this browser should use. */
export function baseAddress(serverAddress: string): string {
  const isLocal = serverAddress === "" || /^https?:\/\/(localhost|127\.)/.test(serverAddress);
  return (isLocal ? location.origin : serverAddress).replace(/\/+$/, "");
}

/** Masks a key as lists and examples show it. */
export function maskKey(key: string): string {
  return `sk-…${key.slice(-4)}`;
}
