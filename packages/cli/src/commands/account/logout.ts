import { accessTokenDelete, ApiProblem } from "@fairway/wire";
import { removeProfile, storedProfile, type Profile } from "../../session/config.ts";
import { currentContext, DEFAULT_CONTEXT, pathOf, useContext } from "../../session/contexts.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";
import { clientOf } from "../../session/session.ts";
import type { Transport } from "../../session/transport.ts";
import type { SignInPlace } from "./login.ts";

/** Forgets the sign-in; with `revoke` the gateway forgets its token first. */
export async function runLogout(
  { revoke }: { readonly revoke?: boolean },
  output: Output,
  { env, transport }: SignInPlace,
) {
  if (revoke) await revokeToken(storedProfile(env), transport);
  const path = removeProfile(env);
  // The next command falls back to the default context, not to the removed one.
  if (path !== undefined && !env["FAIRWAY_CONFIG"] && pathOf(env, currentContext(env)) === path)
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
    await clientOf(profile, transport).call(accessTokenDelete, { query: { name: profile.tokenName } });
  } catch (error) {
    // A token that is not known any more needs no revocation.
    if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
  }
}
