import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { CliError, EXIT } from "./exit.ts";

/** Where and as whom commands work. */
export interface Profile {
  /** Without trailing slash. */
  readonly server: string;
  readonly userId: number;
  readonly token: string;
}

const Stored = z.object({
  server: z.string(),
  userId: z.int(),
  token: z.string(),
});

type Environment = Readonly<Record<string, string | undefined>>;

function configPath(env: Environment): string {
  const named = env["FAIRWAY_CONFIG"];
  if (named !== undefined && named !== "") return named;
  return join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "fairway", "credentials.json");
}

/** Environment before file; undefined when nobody signed in yet. Refuses a file that others can read. */
export function readProfile(env: Environment): Profile | undefined {
  const stored = readFile(configPath(env));
  const server = env["FAIRWAY_SERVER"] || stored?.server;
  const token = env["FAIRWAY_TOKEN"] || stored?.token;
  if (server === undefined || token === undefined) return undefined;
  const userId = env["FAIRWAY_USER_ID"] ? Number(env["FAIRWAY_USER_ID"]) : (stored?.userId ?? 0);
  return { server: server.replace(/\/+$/, ""), userId, token };
}

function readFile(path: string): Profile | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0)
    throw new CliError(`${path} can be read by others (mode ${mode.toString(8)})`, EXIT.failure, `chmod 600 ${path}`);
  const parsed = z.safeParse(Stored, parse(text));
  if (!parsed.success)
    throw new CliError(`${path} does not hold a profile`, EXIT.failure, "sign in again with `fairway login`");
  return parsed.data;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Written beside the old file and moved over it, so that an interrupted write loses nothing. */
export function writeProfile(env: Environment, profile: Profile): string {
  const path = configPath(env);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(profile, undefined, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  return path;
}
