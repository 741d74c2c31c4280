import type { register } from "@fairway/wire";
import type { Call } from "../../http/endpoint.ts";
import { usernameKey } from "../../identity/accounts.ts";
import type { Codes } from "../../identity/codes.ts";
import { parseEmail } from "../../identity/email.ts";
import type { Passwords } from "../../identity/passwords.ts";
import { Refusal } from "../../lib/refusal.ts";
import { createAccount, type CreateAccountDeps } from "../users/create.ts";
import { readPassword, readUsername } from "../users/input.ts";

export interface RegisterDeps extends CreateAccountDeps {
  readonly passwords: Passwords;
  readonly codes: Codes;
}

/** Makes an account with a password; the checks run in the order of the contract. */
export async function registerAccount(deps: RegisterDeps, { body }: Call<typeof register>): Promise<void> {
  const options = deps.options();
  if (!options.RegisterEnabled) throw new Refusal("R1");
  if (!options.PasswordRegisterEnabled) throw new Refusal("R2");
  if ((body.username ?? "").trim() === "" || (body.password ?? "") === "") throw new Refusal("L2");
  const username = readUsername(body.username ?? "");
  const password = readPassword(body.password ?? "");
  if (body.password2 !== undefined && body.password2 !== password) throw new Refusal("R4", { field: "password2" });
  const proof = options.EmailVerificationEnabled ? await readProof(deps, body) : undefined;
  if (await deps.store.isNameTaken(usernameKey(username))) throw new Refusal("R7", { field: "username" });
  if (proof && (await deps.store.isEmailTaken(proof.email))) throw new Refusal("R8", { field: "email" });
  const passwordHash = await deps.passwords.hash(password);
  await createAccount(deps, {
    username,
    passwordHash,
    isRegistration: true,
    ...(body.aff_code === undefined ? {} : { affCode: body.aff_code.trim() }),
    ...(proof === undefined
      ? {}
      : {
          email: proof.email,
          before: async (trx) => {
            if (!(await deps.codes.consume("email", proof.email, proof.code, trx))) throw new Refusal("R6");
          },
        }),
  });
}

/** Address and code; the code is only looked at here, so that a call refused later does not use it up. */
async function readProof(
  { codes }: RegisterDeps,
  body: Call<typeof register>["body"],
): Promise<{ readonly email: string; readonly code: string }> {
  const code = (body.verification_code ?? "").trim();
  if ((body.email ?? "").trim() === "" || code === "") throw new Refusal("R5");
  const email = parseEmail(body.email ?? "");
  if (email === undefined) throw new Refusal("E2", { field: "email" });
  if (!(await codes.check("email", email, code))) throw new Refusal("R6", { field: "verification_code" });
  return { email, code };
}
