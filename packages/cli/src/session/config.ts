import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { configPath } from "./contexts.ts";
import { CliError, readErrorCode, EXIT } from "../core/exit.ts";
import { jsonIn } from "../core/json.ts";

/** Where and as whom commands run. */
export interface Profile {
  /** Without trailing slash. */
  readonly server: string;
  readonly userId: number;
  /** "" if the token is in the keychain. */
  readonly token: string;
  /** The gateway's name for the token, if `fairway login` created it. */
  readonly tokenName?: string | undefined;
  /** Deletions require the name of the context. */
  readonly protected?: boolean | undefined;
  /** Commands may not change anything. */
  readonly readOnly?: boolean | undefined;
  /** The name of the token in the system's keychain; absent = it is in the file. */
  readonly keychain?: string | undefined;
  /** Short name of the team whose keys, log and reports commands use; absent = those of the user. */
  readonly team?: string | undefined;
}

const Stored = z.object({
  server: z.string(),
  userId: z.int(),
  token: z.string(),
  tokenName: z.optional(z.string()),
  protected: z.optional(z.boolean()),
  readOnly: z.optional(z.boolean()),
  keychain: z.optional(z.string()),
  team: z.optional(z.string()),
});

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment first, then the file; undefined before the first sign-in. A stored token goes only to the
 * server that issued it, and a stored user id only goes with the stored token. Refuses a file that others can read.
 */
export function readProfile(env: Environment): Profile | undefined {
  const { server, token, userId } = readEnvProfile(env);
  if (server !== undefined && token !== undefined) return { server, userId: userId ?? 0, token };
  const stored = readFile(configPath(env));
  if (!stored) return undefined;
  if (token !== undefined) return { server: stored.server, userId: userId ?? 0, token };
  if (server !== undefined && server !== stored.server)
    throw new CliError(
      `--server (FAIRWAY_SERVER) is ${server}, but you are signed in to ${stored.server}`,
      EXIT.notSignedIn,
      `set FAIRWAY_TOKEN as well, or sign in with \`fairway login ${server}\``,
    );
  return { ...stored, userId: userId ?? stored.userId };
}

/** Loads the token, from the keychain if it is there. */
export async function loadToken({ token, keychain }: Profile): Promise<string> {
  if (token !== "" || keychain === undefined) return token;
  return (await import("./keychain.ts")).readFromKeychain(keychain);
}

function readEnvProfile(env: Environment) {
  const { FAIRWAY_SERVER: server, FAIRWAY_TOKEN: token, FAIRWAY_USER_ID: userId, FAIRWAY_CONTEXT: context } = env;
  if (context && (server || token))
    throw new CliError(
      `the context ${context} has a server and a token of its own`,
      EXIT.usage,
      "unset FAIRWAY_SERVER and FAIRWAY_TOKEN, or leave out the context",
    );
  return {
    server: server ? checkedAddress(server, token, env) : undefined,
    token: token ? readToken(token, "FAIRWAY_TOKEN") : undefined,
    userId: userId ? readUserId(userId) : undefined,
  };
}

/** Checks the address of the environment; a token from the environment must not go there unencrypted. */
function checkedAddress(server: string, token: string | undefined, env: Environment): string {
  const address = readAddress(server, "--server (FAIRWAY_SERVER)");
  if (token && env["FAIRWAY_INSECURE_HTTP"] !== "1")
    refusePlain(address, "set FAIRWAY_INSECURE_HTTP=1 if you know the network");
  return address;
}

/** Refuses an address where others on the network could read the token; `consent` says how to allow it. */
export function refusePlain(address: string, consent: string): void {
  const url = new URL(address);
  if (url.protocol !== "http:" || isLoopback(url)) return;
  throw new CliError(`${url.origin} would carry the token unencrypted`, EXIT.usage, `use https, or ${consent}`);
}

/**
 * Reads an http(s) address without query and trailing slash. Without a scheme, only this machine is called over plain
 * http.
 */
export function readAddress(text: string, source: string): string {
  const readEnvProfile = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (!readEnvProfile || !["http:", "https:"].includes(readEnvProfile.protocol))
    throw new CliError(
      `${source} is not an http(s) address: ${text}`,
      EXIT.usage,
      "write it like https://ai.example.com",
    );
  if (!text.includes("://") && isLoopback(readEnvProfile)) return readAddress(`http://${text}`, source);
  return readEnvProfile.origin + readEnvProfile.pathname.replace(/\/+$/, "");
}

export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Refuses what a header cannot carry: the error for anything else would quote the token. */
export function readToken(text: string, source: string): string {
  const token = text.trim();
  if (token === "") throw new CliError(`${source} holds no token`, EXIT.usage);
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new CliError(
      `${source} holds no access token: it has blanks, line ends or letters beyond ASCII`,
      EXIT.usage,
      "copy the token once more, alone and without quotes",
    );
  return token;
}

function readUserId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new CliError(`FAIRWAY_USER_ID must be a number, not ${text}`, EXIT.usage, "write the number, or leave it out");
}

function readFile(path: string): Profile | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (readErrorCode(cause) === "ENOENT" || readErrorCode(cause) === "ENOTDIR") return undefined;
    throw new CliError(
      `${path} cannot be read (${readErrorCode(cause)})`,
      EXIT.failure,
      "name another file in FAIRWAY_CONFIG",
    );
  }
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0)
    throw new CliError(`${path} can be read by others (mode ${mode.toString(8)})`, EXIT.failure, `chmod 600 ${path}`);
  const parsed = z.safeParse(Stored, jsonIn(text));
  if (!parsed.success)
    throw new CliError(`${path} does not hold a profile`, EXIT.failure, "sign in again with `fairway login`");
  return parsed.data;
}

/** Reads the sign-in of the file alone and ignores the environment. */
export function storedProfile(env: Environment): Profile | undefined {
  return readFile(configPath(env));
}

/** Returns the path of the removed file; undefined if there was none. Also removes the token from the keychain. */
export async function removeProfile(env: Environment): Promise<string | undefined> {
  const path = configPath(env);
  const account = findKeychain(path);
  if (account !== undefined) (await import("./keychain.ts")).removeFromKeychain(account);
  try {
    rmSync(path);
    return path;
  } catch (cause) {
    if (readErrorCode(cause) === "ENOENT" || readErrorCode(cause) === "ENOTDIR") return undefined;
    throw new CliError(`${path} cannot be removed (${readErrorCode(cause)})`, EXIT.failure, "remove it yourself");
  }
}

/** An unreadable config is treated as empty and deleted. */
function findKeychain(path: string): string | undefined {
  try {
    return readFile(path)?.keychain;
  } catch {
    return undefined;
  }
}

/** Writes a temporary file and renames it over the old one, so that an interrupted write loses nothing. */
export function writeProfile(env: Environment, profile: Profile): string {
  const path = configPath(env);
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(profile, undefined, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new CliError(
      `${path} cannot be written (${readErrorCode(cause)})`,
      EXIT.failure,
      "name another file in FAIRWAY_CONFIG",
    );
  }
  return path;
}
