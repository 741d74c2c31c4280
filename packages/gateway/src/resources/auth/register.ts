import type { register } from "@fairway/wire";
import type { Call } from "../../http/endpoint.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import type { Codes } from "../../identity/second-factor/verification-codes.ts";
import { parseEmail } from "../../identity/mail/email-address.ts";
import type { Enforcement } from "../../identity/providers/enforcement.ts";
import type { Passwords } from "../../identity/passwords/passwords.ts";
import { Refusal } from "../../lib/refusal.ts";
import { createAccount, type CreateAccountDeps } from "../users/create.ts";
import { readPassword, readUsername } from "../users/input.ts";
import type { Trx } from "../users/store.ts";

export interface RegisterDeps extends CreateAccountDeps {
  readonly passwords: Passwords;
  readonly codes: Codes;
  readonly enforcement: Enforcement;
}

/** Creates an account with a password; the checks run in the order of the contract. */
export async function registerAccount(deps: RegisterDeps, { body, context }: Call<typeof register>): Promise<void> {
  const options = deps.options();
  if (!options.RegisterEnabled) throw new Refusal("registration_disabled");
  if (!options.PasswordRegisterEnabled) throw new Refusal("password_registration_disabled");
  const { username, password } = readNameAndPassword(body);
  const proof = options.EmailVerificationEnabled ? await readProof(deps, body, context.ip) : undefined;
  if (await deps.store.isNameTaken(usernameKey(username))) throw new Refusal("username_taken", { field: "username" });
  if (proof) await deps.enforcement.checkAddress(proof.email);
  if (proof && (await deps.store.isEmailTaken(proof.email))) throw new Refusal("email_taken", { field: "email" });
  await createAccount(deps, {
    username,
    passwordHash: await deps.passwords.hash(password),
    isRegistration: true,
    affCode: (body.aff_code ?? "").trim(),
    ...(proof && { email: proof.email, before: (trx: Trx) => consume(deps, proof, trx) }),
  });
}

type Body = Call<typeof register>["body"];

function readNameAndPassword(body: Body): { readonly username: string; readonly password: string } {
  const { username = "", password = "", password2 = password } = body;
  if (username.trim() === "" || password === "") throw new Refusal("credentials_missing");
  const checked = { username: readUsername(username), password: readPassword(password) };
  if (password2 !== password) throw new Refusal("passwords_differ", { field: "password2" });
  return checked;
}

interface Proof {
  readonly email: string;
  readonly code: string;
}

async function consume({ codes }: RegisterDeps, { email, code }: Proof, trx: Trx): Promise<void> {
  if (!(await codes.consume("email", email, code, trx)))
    throw new Refusal("verification_code_wrong", { field: "verification_code" });
}

/** Reads the address and checks the code without using it up, because the call may still be refused later. */
async function readProof({ codes }: RegisterDeps, body: Body, ip: string): Promise<Proof> {
  const code = (body.verification_code ?? "").trim();
  if ((body.email ?? "").trim() === "" || code === "") throw new Refusal("email_verification_required");
  const email = parseEmail(body.email ?? "");
  if (email === undefined) throw new Refusal("email_invalid", { field: "email" });
  if (!(await codes.check("email", email, { code, ip })))
    throw new Refusal("verification_code_wrong", { field: "verification_code" });
  return { email, code };
}
