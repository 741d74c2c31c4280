import { createClient, type Client, type Fetch } from "@fairway/wire";
import { readProfile, type Profile } from "./config.ts";
import { CliError, codeOf, EXIT } from "./exit.ts";

/** A whole answer of the management API. Failures of the connection name the server and the reason. */
export async function fetchJson(url: string, init: Parameters<Fetch>[1]) {
  const { origin } = new URL(url);
  const { method, headers, body, signal } = init;
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      ...(body === undefined ? {} : { body }),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    text = await answer.text();
  } catch (cause) {
    throw new Error(
      limit.aborted
        ? `${origin} gave no answer within ${TIMEOUT_MS / 1000} s`
        : `${origin} cannot be reached: ${reasonOf(cause)}`,
      { cause },
    );
  }
  const { status } = answer;
  if (status >= 300 && status < 400)
    throw new Error(`${origin} sends requests on to ${originOf(answer.headers.get("Location"), url)}`);
  if (status < 300 && !isEnvelope(text)) throw new Error(`${url.split("/api/", 1)[0]} is no Fairway gateway`);
  return { status, headers: answer.headers, text: () => Promise.resolve(text) };
}

function originOf(location: string | null, base: string): string {
  return URL.parse(location ?? "", base)?.origin ?? "nowhere";
}

/** Every JSON answer under `/api` tells its success; a proxy's page does not. */
function isEnvelope(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "success" in value;
  } catch {
    return false;
  }
}

/** The system's code where there is one; those of the HTTP client say less than its words. */
function reasonOf(thrown: unknown): string {
  const root = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const code = codeOf(root);
  return code.startsWith("UND_ERR") ? (root as Error).message : code;
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
