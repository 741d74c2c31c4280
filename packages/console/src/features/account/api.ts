import { passkeyLogin, passkeyLoginOptions, resetPassword, sendResetLink } from "@fairway/wire";
import { setUser } from "../../session/session.ts";
import { call } from "../../lib/http.ts";
import { signWithPasskey } from "../../lib/passkeys.ts";

type Proof = Readonly<Record<string, string>>;

export async function askForResetLink(email: string, proof: Proof): Promise<void> {
  await call(sendResetLink, { query: { email }, extraQuery: proof });
}

/** Lets the device sign; rejects if the user cancels. */
export async function signInWithPasskey(): Promise<void> {
  const response = await signWithPasskey(await call(passkeyLoginOptions, {}));
  setUser(await call(passkeyLogin, { body: { response } }));
}

/** Exchanges the token of the mailed link; resolves to the new password. */
export function takeNewPassword(email: string, token: string): Promise<string> {
  return call(resetPassword, { body: { email, token } });
}
