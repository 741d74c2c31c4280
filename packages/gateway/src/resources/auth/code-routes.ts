import { oauthLinuxdo, oauthOidc, oauthStart, serverAddress } from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import type { CodeService } from "../../identity/oauth/code-service.ts";
import { githubAddress } from "../../identity/oauth/github.ts";
import { newProof } from "../../identity/oauth/pkce.ts";
import { createLinuxdo } from "../../identity/oauth/linuxdo.ts";
import { createOidc } from "../../identity/oauth/oidc.ts";
import { requireProof } from "../../identity/principal.ts";
import { Refusal } from "../../lib/refusal.ts";
import { bindIdentity, enter } from "./bindings.ts";
import { rememberState, requireCode, takeState } from "./oauth-routes.ts";
import { startAtProvider, type ProviderRoutesDeps } from "./provider-routes.ts";

export interface CodeRoutesDeps extends ProviderRoutesDeps {
  readonly linuxdoUrl: string;
}

/** Creates the routes of sign-in services that are not in the contract. */
export function codeRoutes(deps: CodeRoutesDeps): Route[] {
  const ask = { ...deps, publicAddress: () => serverAddress(deps.options(), deps.publicUrl) };
  const linuxdo = createLinuxdo(ask);
  const oidc = createOidc(ask);
  return [
    implement(oauthLinuxdo, (call) => byCode(deps, linuxdo, call)),
    implement(oauthOidc, (call) => byCode(deps, oidc, call)),
    implement(oauthStart, (call) => start(deps, [githubService(deps), linuxdo, oidc], call)),
  ];
}

async function byCode(deps: CodeRoutesDeps, service: CodeService, call: Call<typeof oauthOidc>) {
  const { query, caller } = call;
  // This comes before the state is used up, so that the same call can be repeated after a confirmation.
  if (caller?.via === "session") requireProof(caller);
  const { aff: affCode, proof } = await takeState(deps, call, service.name);
  if (!service.isEnabled()) throw new Refusal("oauth_provider_disabled", { values: { provider: service.label } });
  requireCode(query, service.label);
  const { id, name, email } = await service.read(query, proof);
  const identity = { column: service.column, value: id } as const;
  if (caller?.via === "session") {
    await bindIdentity(deps, { caller, context: call.context }, { ...identity, provider: service.label });
    call.message("bind");
    return undefined;
  }
  const displayName = name === "" ? `${service.label} User` : name;
  return enter(deps, call, { ...identity, prefix: service.prefix, displayName, email, affCode });
}

type Startable = Pick<CodeService, "name" | "label" | "isEnabled" | "address">;

function githubService(deps: CodeRoutesDeps): Startable {
  return {
    name: "github",
    label: "GitHub",
    isEnabled: () => deps.options().GitHubOAuthEnabled,
    address: async (state, proof) => githubAddress(deps, state, proof),
  };
}

async function start(deps: CodeRoutesDeps, services: readonly Startable[], call: Call<typeof oauthStart>) {
  const { service: name, aff } = call.query;
  const service = services.find((one) => one.name === name);
  if (!service && (await isProvider(deps, name))) return startAtProvider(deps, call);
  if (!service) throw new Refusal("invalid_parameter", { field: "service" });
  if (!service.isEnabled()) throw new Refusal("oauth_provider_disabled", { values: { provider: service.label } });
  const proof = newProof();
  const data = { aff, oauthService: name, oauthVerifier: proof.verifier, oauthNonce: proof.nonce };
  return { url: await service.address(await rememberState(deps, call, data), proof) };
}

async function isProvider({ providers }: CodeRoutesDeps, slug: string): Promise<boolean> {
  return slug !== "" && (await providers.findBySlug(slug)) !== undefined;
}
