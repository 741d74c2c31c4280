import {
  ACCESS_SCOPES,
  accessTokenCreate,
  ApiProblem,
  createClient,
  isInScope,
  login,
  selfAccessToken,
  selfGet,
  status,
  type AccessScope,
  type Client,
  type Fetch,
} from "@fairway/wire";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { contextNames, currentContext, useContext } from "../../session/contexts.ts";
import {
  readAddress,
  readToken,
  refusePlain,
  storedProfile,
  writeProfile,
  type Profile,
} from "../../session/config.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { isMissingCall } from "../../core/problem.ts";
import type { Output } from "../../print/output.ts";
import { ask, readPassword, readStdin } from "../../terminal/prompt.ts";
import { createSessionClient } from "../../session/session.ts";
import { ROLE_WORD } from "./whoami.ts";
import type { Transport } from "../../session/transport.ts";

export interface LoginOptions {
  readonly username?: string;
  readonly tokenStdin?: boolean;
  readonly passwordStdin?: boolean;
  readonly insecureHttp?: boolean;
  /** The owner of a token that is read from standard input. */
  readonly userId?: number;
  /** Allows the new token to replace the old one on a gateway that has one token per account. */
  readonly replaceToken?: boolean;
  /** Separated by commas. */
  readonly scope?: string;
  /** In days. */
  readonly expires?: string;
  readonly store?: "file" | "keychain";
  /** A password that is already known, so the user is not asked. */
  readonly password?: string | undefined;
}

/** Where a sign-in is stored and how calls are sent. */
export interface SignInPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly transport: Transport;
  /** How a person is asked; defaults to the terminal. */
  readonly ask?: typeof ask;
}

/** Signs in by password (asked, never a flag) or by a token from standard input, and remembers the result. */
export async function runLogin(
  server: string,
  options: LoginOptions,
  output: Output,
  place: SignInPlace,
): Promise<void> {
  const address = resolveServerAddress(server, options);
  await signInAt({ address, stored: address }, options, output, place);
}

/** Addresses of one gateway. */
export interface SignInAddress {
  /** The address that this sign-in calls. */
  readonly address: string;
  /** The address that later commands call. */
  readonly stored: string;
}

export async function signInAt(
  { address, stored }: SignInAddress,
  options: LoginOptions,
  output: Output,
  { env, transport, ask: question = ask }: SignInPlace,
): Promise<void> {
  await createClient({ baseUrl: address, fetch: transport.json }).call(status, {});
  const profile = options.tokenStdin
    ? await byToken(address, options.userId)
    : await byPassword(address, options, { transport, question, context: env["FAIRWAY_CONTEXT"] });
  const { data: user } = await createSessionClient(profile, transport).call(selfGet, {});
  // A new sign-in does not remove the protections of the context.
  const { protected: isProtected, readOnly } = storedProfile(env) ?? {};
  const full = { ...profile, server: stored, userId: user.id, protected: isProtected, readOnly };
  const place = await keep(env, full, options.store);
  output.note(
    `Signed in to ${stored} as ${user.username} (${ROLE_WORD[user.role] ?? "guest"}). The token is stored in ${place}.`,
  );
}

/**
 * A sign-in to a context leaves the one in use: later commands must not go to another gateway unasked. If there is no
 * sign-in yet, the context becomes the one in use.
 */
export function noteContext(env: SignInPlace["env"], output: Output): void {
  const context = env["FAIRWAY_CONTEXT"];
  const current = currentContext(env);
  if (!context || context === current) return;
  if (!contextNames(env).includes(current)) {
    useContext(env, context);
    return output.note(`Commands go to ${context}.`);
  }
  output.note(`Commands still go to ${current}; \`fairway context use ${context}\` changes that.`);
}

/** Stores the token and returns where it is. A new sign-in replaces the keychain entry. */
async function keep(env: SignInPlace["env"], profile: Profile, store: LoginOptions["store"]): Promise<string> {
  const before = storedProfile(env)?.keychain;
  const isInKeychain = store === undefined ? before !== undefined : store === "keychain";
  if (!isInKeychain) {
    const path = writeProfile(env, profile);
    if (before !== undefined) (await import("../../session/keychain.ts")).removeFromKeychain(before);
    return path;
  }
  const account = before ?? `${new URL(profile.server).host} ${randomUUID()}`;
  (await import("../../session/keychain.ts")).storeInKeychain(account, profile.token);
  return `the keychain, and the rest in ${writeProfile(env, { ...profile, token: "", keychain: account })}`;
}

export function resolveServerAddress(server: string, options: LoginOptions): string {
  const address = readAddress(server, "the server");
  if (!options.insecureHttp) refusePlain(address, "--insecure-http if you know the network");
  return address;
}

async function byToken(server: string, userId = 0): Promise<Profile> {
  return { server, userId, token: readToken(await readStdin("Access token"), "standard input") };
}

interface Asking {
  readonly transport: Transport;
  readonly question: typeof ask;
  readonly context: string | undefined;
}

async function byPassword(server: string, options: LoginOptions, asking: Asking): Promise<Profile> {
  const { transport, question, context } = asking;
  const scopes = readScopes(options.scope);
  const expires_at = readEnd(options.expires);
  const username = options.username ?? (await question("Username")).trim();
  const password =
    options.password ?? (options.passwordStdin ? await readPassword() : await question("Password", true));
  const { client, userId } = await signInByPassword(transport, server, { username, password }, question);
  // A token replaces another one with the same name, so each context has its own.
  const tokenName = `cli ${hostname()}${context === undefined ? "" : ` ${context}`}`.slice(0, 64);
  try {
    const { data: token } = await client.call(accessTokenCreate, { body: { name: tokenName, expires_at, scopes } });
    return { server, userId, token, tokenName };
  } catch (error) {
    if (!isMissingCall(error)) throw error;
  }
  return { server, userId, token: await replacedToken(client, options, question) };
}

/** Compatible gateways have one access token per account: a new one ends the sign-ins of other machines. */
async function replacedToken(client: Client, { replaceToken }: LoginOptions, question: typeof ask): Promise<string> {
  if (!replaceToken) {
    const word = await question(
      "This gateway has one access token for each account. A new one ends every sign-in that uses it. Type replace to continue, or use --replace-token",
    );
    if (word.trim() !== "replace")
      throw new CliError("the token was not replaced", EXIT.usage, "sign in with the token: --token-stdin");
  }
  return (await client.call(selfAccessToken, {})).data;
}

function readScopes(text = ""): AccessScope[] {
  const names = text.split(",").map((name) => name.trim());
  const named = names.filter((name) => name !== "").map(readScope);
  const scopes: AccessScope[] = named.length === 0 ? ["write"] : named;
  // `fairway` needs this scope to ask who is signed in.
  return isInScope(scopes, "account:read") ? scopes : [...scopes, "account:read"];
}

function readScope(name: string): AccessScope {
  const scope = ACCESS_SCOPES.find((one) => one === name);
  if (scope) return scope;
  throw new CliError(`there is no scope ${name}`, EXIT.usage, `choose among ${ACCESS_SCOPES.join(", ")}`);
}

/** Epoch seconds; 0 = never. */
function readEnd(days: string | undefined): number {
  if (days === undefined) return 0;
  if (/^[1-9]\d{0,3}$/.test(days)) return Math.floor(Date.now() / 1000) + Number(days) * 86_400;
  throw new CliError(`--expires ${days} is not a number of days`, EXIT.usage, "write --expires 90 for three months");
}

/** Opens a session by password: access tokens cannot change credentials. */
export async function signInByPassword(
  transport: Transport,
  server: string,
  { username, password }: { readonly username: string; readonly password: string },
  question: typeof ask = ask,
): Promise<{ readonly client: Client; readonly userId: number }> {
  let cookie = "";
  const keeping: Fetch = async (url, init) => {
    const answer = await transport.json(url, init);
    cookie =
      answer.headers
        .getSetCookie()
        .map((line) => line.split(";", 1)[0])
        .join("; ") || cookie;
    return answer;
  };
  const user = await signIn(createClient({ baseUrl: server, fetch: keeping }), { username, password }, question);
  const headers = () => ({ Cookie: cookie, "New-Api-User": String(user.id) });
  return { client: createClient({ baseUrl: server, fetch: keeping, headers }), userId: user.id };
}

async function signIn(
  client: Client,
  { username, password }: { readonly username: string; readonly password: string },
  question: typeof ask,
) {
  try {
    return (await client.call(login, { body: { username, password } })).data;
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.key !== "second_factor_required") throw error;
  }
  const code = (await question("Code of your authenticator, or a recovery code", true)).trim();
  return (await client.call(login, { body: { username, password, code } })).data;
}
