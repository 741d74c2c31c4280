import { accessTokenDelete, ApiProblem } from "@fairway/wire";
import { removeProfile, storedProfile, loadToken, type Profile } from "../../session/config.ts";
import {
  contextNames,
  currentContext,
  DEFAULT_CONTEXT,
  resolveContextPath,
  useContext,
} from "../../session/contexts.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";
import { createSessionClient } from "../../session/session.ts";
import type { Transport } from "../../session/transport.ts";
import type { SignInPlace } from "./login.ts";

export interface LogoutOptions {
  readonly revoke?: boolean;
  readonly all?: boolean;
}

/** Signs out of the chosen context, or of all contexts. */
export async function runLogout({ all, revoke }: LogoutOptions, output: Output, { env, transport }: SignInPlace) {
  if (!all || env["FAIRWAY_CONFIG"]) return leave(revoke ? { revoke } : {}, output, { env, transport });
  const names = contextNames(env);
  if (names.length === 0) output.note("You were not signed in.");
  for (const name of names)
    await leave(revoke ? { revoke } : {}, output, { env: { ...env, FAIRWAY_CONTEXT: name }, transport });
}

/** Forgets the sign-in; with `revoke` the gateway revokes its token first. */
async function leave({ revoke }: Pick<LogoutOptions, "revoke">, output: Output, { env, transport }: SignInPlace) {
  if (revoke) await revokeToken(storedProfile(env), transport);
  const path = await removeProfile(env);
  // The next command falls back to the default context, not to the removed one.
  if (path !== undefined && !env["FAIRWAY_CONFIG"] && resolveContextPath(env, currentContext(env)) === path)
    useContext(env, DEFAULT_CONTEXT);
  if (path === undefined) output.note("You were not signed in.");
  else output.note(`Signed out: removed ${path}${revoke ? " and revoked its token" : ""}.`);
  if (env["FAIRWAY_TOKEN"]) output.note("FAIRWAY_TOKEN still signs commands in.");
}

async function revokeToken(profile: Profile | undefined, transport: Transport): Promise<void> {
  if (!profile) return;
  if (profile.tokenName === undefined)
    throw new CliError(
      "the token was not made by `fairway login`, so its name is not known",
      EXIT.usage,
      "leave out --revoke, and remove the token in the console",
    );
  try {
    const token = await loadToken(profile);
    await createSessionClient({ ...profile, token }, transport).call(accessTokenDelete, {
      query: { name: profile.tokenName },
    });
  } catch (error) {
    // A token that is no longer known needs no revocation.
    if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
  }
}
