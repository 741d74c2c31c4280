/** Values that the gateway and the browser exchange, in the JSON form of WebAuthn. */
type BrowserJson = Record<string, unknown>;

/** Passkeys belong to a host name: browsers refuse them for IP addresses and for insecure connections. */
export function mayHavePasskeys({ hostname, isSecure }: { readonly hostname: string; readonly isSecure: boolean }) {
  return isSecure && !/^[\d.]+$/.test(hostname) && !hostname.includes(":");
}

export function canUsePasskeys(): boolean {
  const hasJson = "PublicKeyCredential" in globalThis && "parseCreationOptionsFromJSON" in PublicKeyCredential;
  return hasJson && mayHavePasskeys({ hostname: location.hostname, isSecure: isSecureContext });
}

function toBrowserJson(credential: Credential | null): BrowserJson {
  if (credential instanceof PublicKeyCredential) return { ...credential.toJSON() };
  throw new DOMException("The browser gave no passkey.", "NotAllowedError");
}

/** Lets the browser create a passkey; rejects if the user cancels. */
export async function makePasskey(options: BrowserJson): Promise<BrowserJson> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
  return toBrowserJson(await navigator.credentials.create({ publicKey }));
}

/** Lets the browser sign with a passkey; rejects if the user cancels. */
export async function signWithPasskey(options: BrowserJson): Promise<BrowserJson> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
  return toBrowserJson(await navigator.credentials.get({ publicKey }));
}

/** Returns whether the user closed the browser's dialog or let it time out; that is not an error. */
export function isCancelled(problem: unknown): boolean {
  return problem instanceof DOMException && (problem.name === "NotAllowedError" || problem.name === "AbortError");
}

/** Returns whether the device already has a passkey of this account. */
export function isKnownDevice(problem: unknown): boolean {
  return problem instanceof DOMException && problem.name === "InvalidStateError";
}
