import { createPrivateKey, type KeyObject } from "node:crypto";
import { importPKCS8 } from "jose";
import * as openid from "openid-client";
import { isLoopback } from "../../lib/net/ip.ts";
import { Refusal } from "../../lib/refusal.ts";
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
  const algorithm = findAlgorithm(secret);
  if (algorithm === undefined) throw new Refusal("identity_key_invalid", { field: "secret" });
  return openid.PrivateKeyJwt(await importPKCS8(secret, algorithm));
}

const ALGORITHMS: Readonly<Record<string, string>> = { rsa: "RS256", ec: "ES256", ed25519: "EdDSA" };

/** Returns the algorithm of a private key in PEM form; undefined if the text is none that a client can sign with. */
export function findAlgorithm(pem: string): string | undefined {
  const key = parseKey(pem);
  if (key?.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve !== "prime256v1") return undefined;
  return ALGORITHMS[key?.asymmetricKeyType ?? ""];
}

function parseKey(pem: string): KeyObject | undefined {
  if (!pem.includes("BEGIN PRIVATE KEY")) return undefined;
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
