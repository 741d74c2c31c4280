import { text } from "../dialects/core/read.ts";
import { seconds } from "../lib/clock.ts";
import { estimateFileTokens, type FindFiles, type StoredFile } from "../relay/tenancy/stored-files.ts";
import { findAccount } from "./account.ts";
import { isObjectId } from "./ids.ts";
import type { LibraryDeps, ObjectLibrary } from "./library.ts";
import type { StoredObject } from "./stored-object.ts";

/** Google's clients name a file by an address that ends with its id, or by its path. */
const ADDRESS = /(?:^|\/)files\/([\w-]{1,128})$/;

/** Creates the search for files and containers of the caller that a request names. */
export function createFindFiles(deps: LibraryDeps & { readonly library: ObjectLibrary }): FindFiles {
  const { store, library, clock } = deps;
  return async (names, caller) => {
    const ids = new Map<string, string>();
    for (const name of names) {
      const id = readId(name);
      if (id !== undefined) ids.set(name, id);
    }
    const found = await store.findAll([...new Set(ids.values())], library.viewAs(caller));
    const files = new Map<string, StoredFile>();
    const now = seconds(clock);
    for (const [name, id] of ids) {
      const object = found.get(id);
      if (object && isServed(object, now)) files.set(name, toFile(object, deps));
    }
    return files;
  };
}

function readId(name: string): string | undefined {
  if (isObjectId(name)) return name;
  return ADDRESS.exec(name.slice(0, 2_048).split(/[?#]/, 1)[0] ?? "")?.[1];
}

function isServed({ kind, state, expiresAt }: StoredObject, now: number): boolean {
  return (
    (kind === "file" || kind === "container") &&
    (state === "ready" || state === "lost") &&
    (expiresAt === 0 || expiresAt > now)
  );
}

function toFile(object: StoredObject, { snapshots, hashKey }: LibraryDeps): StoredFile {
  const { id, kind, dialect, channelId, upstreamId, bytes, mime } = object;
  const address = text(object.facts, "uri");
  return {
    id,
    dialect,
    channelId,
    keyIndex: findAccount(snapshots.current().channels, object, hashKey)?.keyIndex,
    sent: address === undefined || address === "" ? upstreamId : address,
    tokens: kind === "file" ? estimateFileTokens({ mime, bytes }) : 0,
  };
}
