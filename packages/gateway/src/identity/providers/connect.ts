import { createPrivateKey, type JsonWebKeyInput, type KeyObject } from "node:crypto";
import { importPKCS8 } from "jose";
import * as openid from "openid-client";
import { isLoopback } from "../../lib/net/ip.ts";
import { Refusal } from "../../lib/refusal.ts";
import { parseObject, type JsonObject } from "../../lib/text/json.ts";
import { askProvider, createClient, createFetch, type ClientDeps } from "../openid/client.ts";
import type { Provider } from "./provider.ts";
import type { ProviderStore } from "./store.ts";

export interface ConnectDeps extends ClientDeps {
  readonly providers: Pick<ProviderStore, "openSecret">;
}

/** Reads the provider's discovery document, whose issuer must be the configured one, and returns a client for it. */
export async function connectProvider(deps: ConnectDeps, provider: Provider): Promise<openid.Configuration> {
  const { name: label, client_id: clientId } = provider;
  const allowsHttp = canUseHttp(provider);
  const authentication = await buildAuthentication(provider, deps.providers.openSecret(provider));
  const server = await askProvider(label, async () => {
    const found = await openid.discovery(new URL(provider.issuer), clientId, undefined, authentication, {
      [openid.customFetch]: createFetch(deps, label),
      ...(allowsHttp && { execute: [openid.allowInsecureRequests] }),
    });
    const metadata = found.serverMetadata();
    if (metadata.issuer !== provider.issuer) throw new Error("the discovery document names another issuer");
    return { ...metadata };
  });
  return createClient(deps, { label, server, clientId, authentication, allowsHttp });
}

export function canUseHttp({ issuer, allow_http }: Pick<Provider, "issuer" | "allow_http">): boolean {
  return allow_http || isLoopback(new URL(issuer).hostname.replace(/^\[|\]$/g, ""));
}

export async function buildAuthentication({ auth_method }: Provider, secret: string): Promise<openid.ClientAuth> {
  if (auth_method === "none") return openid.None();
  if (auth_method === "client_secret_basic") return openid.ClientSecretBasic(secret);
  if (auth_method === "client_secret_post") return openid.ClientSecretPost(secret);
  const found = parseClientKey(secret);
  if (found === undefined) throw new Refusal("identity_key_invalid", { field: "secret" });
  const { key, algorithm, kid } = found;
  const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
  return openid.PrivateKeyJwt({ key: await importPKCS8(pem, algorithm), ...(kid !== undefined && { kid }) });
}

export interface ClientKey {
  readonly key: KeyObject;
  readonly algorithm: string;
  /** The provider's name of the key; undefined = the secret names none. */
  readonly kid: string | undefined;
}

const ALGORITHMS: Readonly<Record<string, string>> = { rsa: "RS256", ec: "ES256", ed25519: "EdDSA" };

/**
 * Returns the key with which a client signs; undefined if the text is none. It is in PEM form or a JWK, whose `kid` is
 * in the header of each proof: several providers find the public key by it alone.
 */
export function parseClientKey(secret: string): ClientKey | undefined {
  const isJwk = secret.trimStart().startsWith("{");
  if (!isJwk && !secret.includes("BEGIN PRIVATE KEY")) return undefined;
  const jwk = isJwk ? parseObject(secret) : undefined;
  const key = readPrivateKey(jwk ? { key: jwk, format: "jwk" } : secret);
  const algorithm = key && findAlgorithm(key);
  if (key === undefined || algorithm === undefined) return undefined;
  return { key, algorithm, kid: readName(jwk) };
}

function findAlgorithm({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string | undefined {
  return type === "ec" && details?.namedCurve !== "prime256v1" ? undefined : ALGORITHMS[type ?? ""];
}

function readName(jwk: JsonObject | undefined): string | undefined {
  const kid = jwk?.["kid"];
  return typeof kid === "string" && kid !== "" ? kid : undefined;
}

function readPrivateKey(given: string | JsonWebKeyInput): KeyObject | undefined {
  try {
    return createPrivateKey(given);
  } catch {
    return undefined;
  }
}
