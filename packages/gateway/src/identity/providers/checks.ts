import { IDENTITY_CHECKS, type IdentityCheck, type IdentityCheckName } from "@fairway/wire";
import * as openid from "openid-client";
import { Refusal } from "../../lib/refusal.ts";
import { canUseHttp, buildAuthentication, type ConnectDeps } from "./connect.ts";
import { createClient } from "../openid/client.ts";
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
 * Redeems a code that does not exist: the provider checks the client's id and secret first, so its answer shows
 * whether it accepts them.
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
    const grant = { code: "fairway-test", redirect_uri: deps.redirectUri, code_verifier: "fairway-test".repeat(4) };
    await openid.genericGrantRequest(client, "authorization_code", grant);
    return warn("");
  } catch (error) {
    return judgeAnswer(error);
  }
}

const REFUSED: readonly string[] = ["invalid_client", "unauthorized_client"];

function judgeAnswer(error: unknown): Outcome {
  if (error instanceof openid.WWWAuthenticateChallengeError) return fail("invalid_client");
  if (error instanceof openid.ResponseBodyError)
    return REFUSED.includes(error.error)
      ? fail(error.error)
      : error.error === "invalid_grant"
        ? PASSED
        : warn(error.error);
  if (error instanceof Refusal) return fail(error.key);
  return warn("");
}
