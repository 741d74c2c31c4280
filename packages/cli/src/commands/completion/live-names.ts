import {
  channelModelsEnabled,
  channelTypes,
  groupList,
  ROLE,
  selfGet,
  selfGroups,
  selfModels,
  type Client,
} from "@fairway/wire";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Name } from "./words.ts";
import type { Noun } from "../../core/arguments.ts";
import { namedRows } from "../names.ts";
import { printable } from "../../print/printable.ts";
import { readProfile } from "../../session/config.ts";
import { resolveCacheFolder } from "../../session/folders.ts";
import { openSession } from "../../session/session.ts";
import { createTransport } from "../../session/transport.ts";

export type Kind = Noun | "model" | "group" | "type";
type Environment = Readonly<Record<string, string | undefined>>;

/** Completion must not keep a person waiting longer than this. */
const TIMEOUT_MS = 300;
const FRESH_MS = 60_000;
/** How many names the cache holds. If there are more, the gateway searches for the typed text. */
const MAX_NAMES = 500;

/** Returns names from the gateway, at most a minute old; older ones or none if it does not answer at once. */
export async function liveNames(env: Environment, kind: Kind, begun: string): Promise<readonly Name[]> {
  const path = cachePath(env, kind);
  if (path === undefined) return [];
  const cached = readCache(path);
  const fresh = cached && Date.now() - cached.at < FRESH_MS ? cached.names : undefined;
  const isEnough = (names: readonly Name[]) => names.length < MAX_NAMES || begun === "";
  if (fresh && isEnough(fresh)) return fresh;
  try {
    const transport = createTransport({ timeoutMs: TIMEOUT_MS, retries: 0, note: () => undefined });
    const { client } = await openSession(env, transport);
    const names = fresh ?? (await readAndCache(client, kind, path));
    return isEnough(names) ? names : await readNames(client, kind, begun);
  } catch {
    return cached?.names ?? [];
  }
}

async function readAndCache(client: Client, kind: Kind, path: string): Promise<readonly Name[]> {
  const names = await readNames(client, kind, "");
  writeCache(path, names);
  return names;
}

/** Letters that shells interpret: a name with one of them is offered by its id. */
const SHELL_LETTERS = /[\s"'`$&|;<>(){}[\]*?!#~\\]/;

async function readNames(client: Client, kind: Kind, begun: string): Promise<readonly Name[]> {
  if (kind === "type") return (await client.call(channelTypes, {})).data.map(({ id }) => id);
  if (kind !== "model" && kind !== "group")
    return (await namedRows(client, kind, MAX_NAMES, begun)).map(({ id, name }) =>
      SHELL_LETTERS.test(name) ? { word: String(id), about: printable(name) } : name,
    );
  const { data: self } = await client.call(selfGet, {});
  const isAdmin = self.role >= ROLE.admin;
  if (kind === "model") return (await client.call(isAdmin ? channelModelsEnabled : selfModels, {})).data;
  return isAdmin ? (await client.call(groupList, {})).data : Object.keys((await client.call(selfGroups, {})).data);
}

/** Undefined without a sign-in. Each sign-in has its own cache, so its names are not shown to others. */
function cachePath(env: Environment, kind: Kind): string | undefined {
  try {
    const profile = readProfile(env);
    if (!profile) return undefined;
    const mark = createHash("sha256")
      .update(`${profile.server} ${profile.token}${profile.keychain ?? ""}`)
      .digest("hex")
      .slice(0, 16);
    return resolveCacheFolder(env, mark, `${kind}.json`);
  } catch {
    return undefined;
  }
}

function readCache(path: string): { readonly at: number; readonly names: readonly Name[] } | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as { at: number; names: Name[] };
  } catch {
    return undefined;
  }
}

function writeCache(path: string, names: readonly Name[]): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.${process.pid}`, JSON.stringify({ at: Date.now(), names }), { mode: 0o600 });
    renameSync(`${path}.${process.pid}`, path);
  } catch {
    // Without a cache the gateway is asked each time.
  }
}
