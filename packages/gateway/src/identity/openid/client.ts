import * as openid from "openid-client";
import { seconds, systemClock, type Clock } from "../../lib/clock.ts";
import type { Outbound } from "../../lib/net/outbound.ts";
import { Refusal } from "../../lib/refusal.ts";

export interface ClientDeps {
  readonly outbound: Outbound;
  readonly clock: Clock;
}

export interface ClientSettings {
  /** The name of the provider in messages. */
  readonly label: string;
  readonly server: openid.ServerMetadata;
  readonly clientId: string;
  readonly authentication: openid.ClientAuth;
  /** True if addresses of the provider may begin with `http:`. */
  readonly allowsHttp: boolean;
}

/**
 * Creates the client of one sign-in. It is never used for the next one, so that a key that the provider has withdrawn
 * signs no user in.
 */
export function createClient(deps: ClientDeps, settings: ClientSettings): openid.Configuration {
  const { server, clientId, authentication, allowsHttp } = settings;
  const metadata = { [openid.clockSkew]: seconds(deps.clock) - seconds(systemClock) };
  const client = new openid.Configuration(server, clientId, metadata, authentication);
  client[openid.customFetch] = createFetch(deps, settings.label);
  openid.enableNonRepudiationChecks(client);
  if (allowsHttp) openid.allowInsecureRequests(client);
  return client;
}

/** Returns a `fetch` that refuses addresses as every call to a sign-in service does. */
export function createFetch({ outbound }: Pick<ClientDeps, "outbound">, label: string): openid.CustomFetch {
  return async (url, { method, headers, body }) => {
    const sent = body === undefined || body === null ? {} : { body: toText(body) };
    try {
      return await outbound.fetch({ method: method === "POST" ? "POST" : "GET", url, headers, ...sent });
    } catch (cause) {
      throw new Refusal("oauth_provider_unreachable", { values: { provider: label }, cause });
    }
  };
}

function toText(body: unknown): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error("the library sent a body that is no form");
}

/** Runs a step of a sign-in; everything that the library refuses is `oauth_answer_invalid`. */
export async function askProvider<T>(label: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    throw findRefusal(cause) ?? new Refusal("oauth_answer_invalid", { values: { provider: label }, cause });
  }
}

const CLIENT_REFUSED: readonly string[] = ["invalid_client", "unauthorized_client"];

/** Returns whether an endpoint at which the client proves who it is answered that it does not accept the client. */
export function isClientRefused(error: unknown): boolean {
  if (error instanceof openid.WWWAuthenticateChallengeError) return true;
  return error instanceof openid.ResponseBodyError && CLIENT_REFUSED.includes(error.error);
}

const MAX_CAUSES = 8;

/** Returns the refusal that the library has wrapped into its own error. */
function findRefusal(error: unknown): Refusal | undefined {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    if (cause instanceof Refusal) return cause;
    cause = cause.cause;
  }
  return undefined;
}
