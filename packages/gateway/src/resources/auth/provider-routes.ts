import { identityDiscover, oauthBackchannel, oauthProvider, serverAddress, type SignInOffer } from "@fairway/wire";
import type { oauthStart } from "@fairway/wire";
import { createHash } from "node:crypto";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { newProof } from "../../identity/oauth/pkce.ts";
import { requireProof } from "../../identity/principal.ts";
import { ownsAddress } from "../../identity/providers/enforcement.ts";
import { findIdentityByUser } from "../../identity/providers/identities.ts";
import { readLogoutToken } from "../../identity/providers/logout-token.ts";
import {
  buildSignInAddress,
  PROOF_MAX_AGE_SECONDS,
  readPerson,
  type PersonDeps,
} from "../../identity/providers/person.ts";
import type { Provider } from "../../identity/providers/provider.ts";
import type { ProviderStore } from "../../identity/providers/store.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { passFactor } from "./bindings.ts";
import { rememberState, requireCode, takeState, type OauthRoutesDeps } from "./oauth-routes.ts";
import { findAccount, link, refreshAccount, type Arrival } from "./provider-account.ts";
import { openSession } from "./sign-in.ts";
import type { Sessions } from "../../identity/sessions/sessions.ts";

export interface ProviderRoutesDeps extends OauthRoutesDeps {
  readonly providers: ProviderStore;
  readonly sessions: Pick<Sessions, "endOfProvider">;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
}

/** Creates the routes of sign-in with companies' identity providers. */
export function providerRoutes(deps: ProviderRoutesDeps): Route[] {
  return [
    implement(oauthProvider, (call) => comeBack(deps, call)),
    implement(oauthBackchannel, (call) => logOut(deps, call)),
    implement(identityDiscover, async ({ body }) => {
      const found = (await deps.providers.list()).find((one) => one.isEnabled && ownsAddress(one, body.login.trim()));
      return found ? toOffer(found) : null;
    }),
  ];
}

export function toOffer({ slug, name }: Provider): SignInOffer {
  return { slug, name, kind: "oidc" };
}

/** Returns the address of the provider's page; who is signed in must prove there again who they are. */
export async function startAtProvider(deps: ProviderRoutesDeps, call: Call<typeof oauthStart>) {
  const { service: slug, aff } = call.query;
  const provider = await requireEnabled(deps, slug);
  const proof = newProof();
  const maxAgeSeconds = call.caller?.via === "session" ? PROOF_MAX_AGE_SECONDS : 0;
  const data = {
    aff,
    oauthService: slug,
    oauthVerifier: proof.verifier,
    oauthNonce: proof.nonce,
    oauthMaxAge: maxAgeSeconds,
  };
  const state = await rememberState(deps, call, data);
  return { url: await buildSignInAddress(toPersonDeps(deps), provider, { state, ...proof, maxAgeSeconds }) };
}

async function requireEnabled({ providers }: ProviderRoutesDeps, slug: string): Promise<Provider> {
  const provider = await providers.findBySlug(slug);
  if (!provider) throw new Refusal("identity_provider_not_found");
  if (!provider.isEnabled) throw new Refusal("oauth_provider_disabled", { values: { provider: provider.name } });
  return provider;
}

function toPersonDeps(deps: ProviderRoutesDeps): PersonDeps {
  return { ...deps, publicAddress: () => serverAddress(deps.options(), deps.publicUrl) };
}

type BackCall = Call<typeof oauthProvider>;

async function comeBack(deps: ProviderRoutesDeps, call: BackCall) {
  const { query, caller, params } = call;
  const provider = await requireEnabled(deps, params.slug);
  const isSignedIn = caller?.via === "session";
  const { db } = deps.database;
  const own = isSignedIn ? await findIdentityByUser(db, provider.id, caller.userId) : undefined;
  // This comes before the state is used up, so that the same call can be repeated after a confirmation.
  if (isSignedIn && !own) requireProof(caller);
  const { aff: affCode, proof, maxAgeSeconds } = await takeState(deps, call, provider.slug);
  // Only an address that this server built has both.
  if (proof.nonce === "" || proof.verifier === "") throw new Refusal("oauth_state_mismatch");
  requireCode(query, provider.name);
  const person = await readPerson(toPersonDeps(deps), provider, { answer: query, proof, maxAgeSeconds });
  const arrival = { provider, person, affCode };
  return isSignedIn ? linkOrConfirm(deps, call, arrival, caller) : enterPerson(deps, call, arrival);
}

async function enterPerson(deps: ProviderRoutesDeps, call: BackCall, arrival: Arrival) {
  const { provider, person } = arrival;
  const user = await refreshAccount(deps, arrival, await findAccount(deps, arrival));
  const isPassed = provider.mfa === "provider" && person.hasFactor;
  if (!isPassed) await passFactor(deps, call, user.id, person.origin);
  return openSession(deps, call, user, person.origin);
}

/** Links the account of the caller; who is linked already has confirmed who they are. */
async function linkOrConfirm(
  deps: ProviderRoutesDeps,
  call: BackCall,
  { provider, person }: Arrival,
  caller: NonNullable<BackCall["caller"]>,
): Promise<undefined> {
  const known = await findIdentityByUser(deps.database.db, provider.id, caller.userId);
  if (known && known.subject === person.subject) {
    const { request, response, context } = call;
    await deps.credentials.remember(request, response, { provenAt: seconds(deps.clock) }, context);
    call.message("confirm");
    return;
  }
  const { userId } = caller;
  const { ip } = call.context;
  await link(deps, { provider, subject: person.subject, userId, ip }).catch((cause: unknown) => {
    if (!isDuplicate(cause)) throw cause;
    throw new Refusal("oauth_account_already_bound", { values: { provider: provider.name }, cause });
  });
  deps.notices.send({ userId, what: `A ${provider.name} account was bound.`, ip });
  call.message("bind");
}

/** Ends sessions at the word of their provider; anything that is no genuine message is 400. */
async function logOut(deps: ProviderRoutesDeps, call: Call<typeof oauthBackchannel>): Promise<void> {
  const provider = await deps.providers.findBySlug(call.params.slug);
  const token = new URLSearchParams(await call.text()).get("logout_token") ?? "";
  const message = provider?.isEnabled ? await readLogoutToken(toPersonDeps(deps), provider, token) : undefined;
  const isFirst = message !== undefined && provider !== undefined && (await claimOnce(deps, provider, message));
  if (isFirst) await deps.sessions.endOfProvider(provider.id, message);
  call.response.writeHead(isFirst ? 200 : 400, { "Content-Length": "0" }).end();
}

function claimOnce(
  { codes }: ProviderRoutesDeps,
  { slug }: Provider,
  { id, expiresAt }: { id: string; expiresAt: number },
) {
  return codes.claim("logout", createHash("sha256").update(`${slug}/${id}`).digest("hex"), expiresAt);
}
