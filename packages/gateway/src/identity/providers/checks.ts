import { IDENTITY_CHECKS, type IdentityCheck, type IdentityCheckName } from "@fairway/wire";
import * as openid from "openid-client";
import { Refusal } from "../../lib/refusal.ts";
import { canUseHttp, buildAuthentication, type ConnectDeps } from "./connect.ts";
import { createClient, isClientRefused } from "../openid/client.ts";
import type { Provider } from "./provider.ts";

/** What the checks found out besides their results. */
export interface CheckedProvider {
  readonly checks: readonly IdentityCheck[];
  /** The issuer that the discovery document names; "" without one. */
  readonly issuer: string;
  /** Number of keys for signatures. */
  readonly keys: number;
  readonly hasLogout: boolean;
}

export interface CheckDeps extends ConnectDeps {
  /** The address to which the provider sends people back. */
  readonly redirectUri: string;
}

type Document = Readonly<Record<string, unknown>>;
type Outcome = Pick<IdentityCheck, "state" | "detail">;

const PASSED: Outcome = { state: "passed", detail: "" };
const fail = (detail: string): Outcome => ({ state: "failed", detail });
const warn = (detail: string): Outcome => ({ state: "warning", detail });
const MAX_DETAIL_CHARACTERS = 300;

/**
 * Goes through what a sign-in needs of the provider, step by step. A step that cannot be done because an earlier one
 * failed is skipped. Nothing is stored.
 */
export async function checkAtProvider(deps: CheckDeps, provider: Provider): Promise<CheckedProvider> {
  const found = new Map<IdentityCheckName, Outcome>([["address", checkAddress(deps)]]);
  const document = await readDocument(deps, provider);
  if (document === undefined) found.set("discovery", fail(findDocumentAddress(provider.issuer)));
  let keys: readonly unknown[] = [];
  if (document) {
    found.set("discovery", PASSED);
    found.set("issuer", checkIssuer(provider, document));
    found.set("endpoints", checkEndpoints(provider, document));
    keys = await readKeys(deps, document);
    found.set("keys", keys.length > 0 ? PASSED : fail(readText(document, "jwks_uri")));
    found.set("algorithm", checkAlgorithm(document));
    found.set("scopes", checkScopes(provider, document));
    found.set("logout", checkLogout(provider, document));
    if (found.get("endpoints")?.state === "passed") found.set("client", await checkClient(deps, provider, document));
  }
  return {
    checks: IDENTITY_CHECKS.map((name) => ({
      name,
      ...(found.get(name) ?? { state: "skipped" as const, detail: "" }),
    })).map((check) => ({ ...check, detail: check.detail.slice(0, MAX_DETAIL_CHARACTERS) })),
    issuer: document ? readText(document, "issuer") : "",
    keys: keys.length,
    hasLogout: document !== undefined && readText(document, "end_session_endpoint") !== "",
  };
}

/** Browsers come back to this address: without the gateway's own one the provider would send them elsewhere. */
function checkAddress({ redirectUri }: CheckDeps): Outcome {
  const url = URL.parse(redirectUri);
  if (!url) return fail(redirectUri);
  return url.protocol === "https:" ? { state: "passed", detail: redirectUri } : warn(redirectUri);
}

function findDocumentAddress(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

async function readDocument({ outbound }: CheckDeps, { issuer }: Provider): Promise<Document | undefined> {
  const document = await outbound
    .json({ method: "GET", url: findDocumentAddress(issuer) })
    .catch((): undefined => undefined);
  return document && readText(document, "issuer") !== "" ? document : undefined;
}

function readText(document: Document, name: string): string {
  const value = document[name];
  return typeof value === "string" ? value : "";
}

function readTexts(document: Document, name: string): readonly string[] | undefined {
  const value = document[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined;
}

/** Both must be equal, letter by letter: the issuer is what separates the people of two companies. */
function checkIssuer({ issuer }: Provider, document: Document): Outcome {
  const named = readText(document, "issuer");
  return named === issuer ? PASSED : fail(named);
}

function checkEndpoints(provider: Provider, document: Document): Outcome {
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"]) {
    const url = URL.parse(readText(document, name));
    if (!url) return fail(name);
    if (url.protocol !== "https:" && !canUseHttp(provider)) return fail(url.href);
  }
  return PASSED;
}

async function readKeys({ outbound }: CheckDeps, document: Document): Promise<readonly unknown[]> {
  const url = readText(document, "jwks_uri");
  if (!URL.canParse(url)) return [];
  const answer = await outbound.json({ method: "GET", url }).catch((): undefined => undefined);
  const keys: unknown = answer?.["keys"];
  return Array.isArray(keys) ? (keys as readonly unknown[]).filter(isForSignatures) : [];
}

function isForSignatures(key: unknown): boolean {
  if (typeof key !== "object" || key === null) return false;
  return !("use" in key) || key.use === "sig";
}

/** Signatures with the client's own secret are refused at sign-in. */
function checkAlgorithm(document: Document): Outcome {
  const names = readTexts(document, "id_token_signing_alg_values_supported") ?? ["RS256"];
  return names.some((name) => name !== "none" && !name.startsWith("HS")) ? PASSED : fail(names.join(", "));
}

function checkScopes({ scopes }: Provider, document: Document): Outcome {
  const known = readTexts(document, "scopes_supported");
  const wanted = scopes.split(" ").filter((scope) => scope !== "");
  if (!wanted.includes("openid")) return fail("openid");
  const unknown = known === undefined ? [] : wanted.filter((scope) => !known.includes(scope));
  return unknown.length === 0 ? PASSED : warn(unknown.join(" "));
}

function checkLogout({ logout }: Provider, document: Document): Outcome {
  return !logout || readText(document, "end_session_endpoint") !== "" ? PASSED : warn("end_session_endpoint");
}

/**
 * Redeems a code that does not exist: most providers check the client's id and secret first, so the answer shows whether
 * they are accepted. Some look for the code first, and answer the same to any client.
 */
async function checkClient(deps: CheckDeps, provider: Provider, document: Document): Promise<Outcome> {
  const secret = deps.providers.openSecret(provider);
  if (provider.auth_method !== "none" && secret === "") return fail("secret");
  const methods = readTexts(document, "token_endpoint_auth_methods_supported");
  if (methods && !methods.includes(provider.auth_method)) return fail(`auth_method: ${methods.join(", ")}`);
  try {
    const client = createClient(deps, {
      label: provider.name,
      server: { ...document, issuer: readText(document, "issuer") },
      clientId: provider.client_id,
      authentication: await buildAuthentication(provider, secret),
      allowsHttp: canUseHttp(provider),
    });
    const outcome = await redeemNothing(client, deps.redirectUri);
    if (outcome.state !== "passed" || !canRevoke(provider, document)) return outcome;
    return await revokeNothing(client);
  } catch (error) {
    return judgeAnswer(error);
  }
}

async function redeemNothing(client: openid.Configuration, redirectUri: string): Promise<Outcome> {
  try {
    const grant = { code: "fairway-test", redirect_uri: redirectUri, code_verifier: "fairway-test".repeat(4) };
    await openid.genericGrantRequest(client, "authorization_code", grant);
    return warn("");
  } catch (error) {
    return judgeAnswer(error);
  }
}

/** Without the list, a provider takes the client's name and secret in the header alone (RFC 8414). */
const DEFAULT_METHODS: readonly string[] = ["client_secret_basic"];

/** Returns whether the provider lets this client end tokens with the same proof as at a sign-in. */
function canRevoke({ auth_method, allow_http, issuer }: Provider, document: Document): boolean {
  const url = URL.parse(readText(document, "revocation_endpoint"));
  if (auth_method === "none" || !url) return false;
  if (url.protocol !== "https:" && !canUseHttp({ issuer, allow_http })) return false;
  const methods = readTexts(document, "revocation_endpoint_auth_methods_supported") ?? DEFAULT_METHODS;
  return methods.includes(auth_method);
}

/**
 * Ends a token that does not exist, which a provider answers after it has checked the client (RFC 7009). What some say
 * about the token itself does not matter.
 */
async function revokeNothing(client: openid.Configuration): Promise<Outcome> {
  try {
    await openid.tokenRevocation(client, "fairway-test");
    return PASSED;
  } catch (error) {
    if (!(error instanceof openid.ResponseBodyError)) return judgeAnswer(error);
    // There is no grant here: it is the proof of a private key that is wrong (RFC 7523).
    return isClientRefused(error) || error.error === "invalid_grant" ? fail(error.error) : PASSED;
  }
}

function judgeAnswer(error: unknown): Outcome {
  if (error instanceof Refusal) return fail(error.key);
  if (error instanceof openid.ResponseBodyError && !isClientRefused(error))
    return error.error === "invalid_grant" ? PASSED : warn(error.error);
  if (!isClientRefused(error)) return warn("");
  return fail(error instanceof openid.ResponseBodyError ? error.error : "invalid_client");
}
