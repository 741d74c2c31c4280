import { createClient, type Client, type Fetch } from "@fairway/wire";
import { readProfile, type Profile } from "./config.ts";
import { CliError, EXIT } from "./exit.ts";

/** Failures of the connection name the server and the reason. */
export const fetchJson: Fetch = async (url, init) => {
  const { method, headers, body, signal } = init;
  try {
    return await fetch(url, {
      method,
      headers,
      redirect: "error",
      ...(body === undefined ? {} : { body }),
      signal: signal ?? AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (cause) {
    throw new Error(`${new URL(url).origin} cannot be reached: ${reasonOf(cause)}`, { cause });
  }
};

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { cause } = thrown;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return thrown.message;
}

const TIMEOUT_MS = 60_000;

/** A client for the signed-in profile; fails with exit 4 when there is none. */
export function openSession(env: Readonly<Record<string, string | undefined>>): {
  readonly client: Client;
  readonly profile: Profile;
} {
  const profile = readProfile(env);
  if (!profile) throw new CliError("you are not signed in", EXIT.notSignedIn, "sign in with `fairway login URL`");
  return { client: clientOf(profile), profile };
}

export function clientOf(profile: Profile): Client {
  const headers = {
    Authorization: `Bearer ${profile.token}`,
    ...(profile.userId > 0 ? { "New-Api-User": String(profile.userId) } : {}),
  };
  return createClient({ baseUrl: profile.server, fetch: fetchJson, headers: () => headers });
}
