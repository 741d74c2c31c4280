import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeJwt, exportJWK, generateKeyPair, importJWK, SignJWT, type JWK, type JWTPayload } from "jose";
import { Provider, type Configuration } from "oidc-provider";

/** What the token endpoint is about to answer. */
export interface TokenAnswer {
  id_token: string;
  access_token: string;
}

export interface OidcServer {
  readonly issuer: string;
  readonly wellKnown: string;
  /** Claims of the person who signs in next. */
  person: Record<string, unknown> & { sub: string };
  /** The key that signs now. */
  readonly key: JWK;
  /** Changes the answer of the token endpoint; undefined = as the provider wrote it. */
  tamper: ((answer: TokenAnswer) => Promise<void> | void) | undefined;
  /** Why the provider refuses every sign-in now; undefined = it does. */
  refusal: { readonly error: string; readonly error_description: string } | undefined;
  /** The keys that the provider publishes; undefined = those that it has. */
  publishes: { readonly keys: readonly JWK[] } | undefined;
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  /** Follows the address as a browser does and returns the query with which the provider sends it back. */
  visit(address: string): Promise<URLSearchParams>;
  close(): Promise<void>;
}

export interface OidcServerSettings {
  readonly redirectUris: readonly string[];
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly configuration?: Configuration;
}

/** Makes a private key for signatures, with its id. */
export async function makeSigningKey(kid: string, alg = "RS256"): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg, use: "sig" };
}

export interface Forgery {
  readonly header?: Record<string, unknown>;
  /** Replaces claims; undefined removes one. */
  readonly claims?: (claims: JWTPayload) => Record<string, unknown>;
}

/** Returns the token with other claims, signed again by a key. */
export async function forgeToken(token: string, jwk: JWK, { header = {}, claims = () => ({}) }: Forgery) {
  const own = decodeJwt(token);
  const changed = Object.entries({ ...own, ...claims(own) }).filter(([, value]) => value !== undefined);
  const protectedHeader = { alg: "RS256", kid: jwk.kid ?? "", ...header };
  const known = { crit: { "urn:unknown": true } };
  const key = await importJWK(jwk, "RS256");
  return new SignJWT(Object.fromEntries(changed)).setProtectedHeader(protectedHeader).sign(key, known);
}

/** A certified OpenID provider in this process: everybody who comes is signed in as `person`. */
export async function startOidcServer(settings: OidcServerSettings): Promise<OidcServer> {
  const key = await makeSigningKey("first");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: OidcServer = {
    issuer,
    wellKnown: `${issuer}/.well-known/openid-configuration`,
    person: { sub: "subject-1" },
    key,
    tamper: undefined,
    refusal: undefined,
    publishes: undefined,
    asked: [],
    visit: (address) => visit(address, issuer),
    close: () => close(server),
  };
  const provider = new Provider(issuer, configure(settings, state));
  provider.use((ctx, next) => interfere(state, ctx, next));
  const answer = provider.callback();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? "/", issuer).pathname;
    state.asked.push(path);
    if (!path.startsWith("/interaction/")) return void answer(request, response);
    const result = state.refusal ?? { login: { accountId: state.person.sub } };
    void provider.interactionFinished(request, response, result);
  });
  return state;
}

function configure(settings: OidcServerSettings, state: OidcServer): Configuration {
  const { redirectUris, clientId = "client-1", clientSecret = "client-1-secret", configuration } = settings;
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...redirectUris],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    jwks: { keys: [state.key as never] },
    cookies: { keys: ["test"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    // Everything that the client requests is in the claims of both token and profile.
    conformIdTokenClaims: false,
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified", "xms_edov"],
      profile: ["name", "preferred_username", "groups", "oid", "hasgroups", "_claim_names", "department"],
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ ...state.person, sub: id }) }),
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client?.clientId ?? "",
        accountId: ctx.oidc.session?.accountId ?? "",
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
    ...configuration,
  };
}

interface Answered {
  readonly path: string;
  readonly status: number;
  body: unknown;
}

async function interfere(state: OidcServer, ctx: Answered, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.path === "/token" && ctx.status === 200 && state.tamper) await state.tamper(ctx.body as TokenAnswer);
  if (ctx.path === "/jwks" && state.publishes) ctx.body = state.publishes;
}

const MAX_STEPS = 8;

async function visit(address: string, issuer: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  for (let step = 0; step < MAX_STEPS && url.origin === issuer; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const at = pair.indexOf("=");
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    url = new URL(location, url);
  }
  return url.searchParams;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
