import type { JsonObject } from "../dialects/core/types.ts";
import { Lru } from "../lib/lru.ts";
import { seconds } from "../lib/clock.ts";
import { findAccount, openAccount } from "../objects/account.ts";
import { isMissing } from "../objects/library.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import { readJson } from "../objects/upstream.ts";
import type { AnsweringAccount } from "../relay/stateful/owners.ts";
import type { Logger } from "../observability/log.ts";
import { markKey } from "../snapshot/key-marks.ts";
import { hasContainers } from "./find-container.ts";
import { KNOWN_SECONDS, type ContainerDeps } from "./types.ts";
import { readContainer } from "./view.ts";

/** The containers that answers name: vendors create them for the code of an answer, and their users list them. */
export interface MintedContainers {
  /** Takes any id that an answer named. */
  note(id: string, account: AnsweringAccount): void;
  /** The container was deleted: a later answer that names it has it again. */
  forget(id: string, userId: number): void;
  /** Resolves when everything noted so far is written. */
  flush(): Promise<void>;
}

type MintedDeps = Pick<ContainerDeps, "store" | "hashKey" | "clock"> & { readonly log: Logger };

const CONTAINER = /^cntr_[\w-]{1,123}$/;
/** A container that is used for hours is named by every answer. */
const REMEMBERED = 10_000;

export function createMintedContainers({ store, hashKey, clock, log }: MintedDeps): MintedContainers {
  const known = new Lru<string, true>(REMEMBERED);
  const writing = new Set<Promise<void>>();

  const write = async (object: StoredObject) => {
    try {
      await store.create(object);
    } catch (error) {
      // The user may have created it, and another replica may have noted it; if that cannot be read either, the log says so.
      if (await store.find(object.id, { userId: object.userId }).catch(() => undefined)) return;
      known.delete(nameKnown(object.id, object.userId));
      log.warn("a container of an answer could not be noted", { error });
    }
  };

  return {
    note(id, { userId, channel, keyIndex }) {
      if (!CONTAINER.test(id) || known.get(nameKnown(id, userId))) return;
      const account = openAccount(channel, keyIndex);
      if (!account || !hasContainers(account)) return;
      known.set(nameKnown(id, userId), true);
      const createdAt = seconds(clock);
      const keyMark = markKey(channel.keys[keyIndex] ?? "", hashKey);
      const work: Promise<void> = write(buildMinted(id, userId, { channelId: channel.id, keyMark, createdAt })).finally(
        () => writing.delete(work),
      );
      writing.add(work);
    },
    forget: (id, userId) => known.delete(nameKnown(id, userId)),
    async flush() {
      await Promise.all(writing);
    },
  };
}

function nameKnown(id: string, userId: number): string {
  return `${userId} ${id}`;
}

/** An answer does not say which token it went to, so a token that sees only its own objects does not see the container. */
function buildMinted(
  id: string,
  userId: number,
  { channelId, keyMark, createdAt }: Pick<StoredObject, "channelId" | "keyMark" | "createdAt">,
): StoredObject {
  const expiresAt = createdAt + KNOWN_SECONDS;
  return {
    id,
    userId,
    tokenId: 0,
    kind: "container",
    dialect: "openai",
    channelId,
    keyMark,
    upstreamId: id,
    name: "",
    mime: "",
    purpose: "",
    bytes: 0,
    state: "ready",
    facts: {},
    createdAt,
    expiresAt,
    nextCheckAt: expiresAt,
  };
}

const AT_ONCE = 8;
const READ_MS = 5_000;

/** Returns a page with what the upstream says about containers that no one has looked at since an answer named them. */
export async function readUnseen(
  page: readonly StoredObject[],
  signal: AbortSignal,
  deps: Pick<ContainerDeps, "snapshots" | "hashKey" | "call" | "store">,
): Promise<readonly StoredObject[]> {
  const seen = [...page];
  const waiting = [...seen.entries()].filter(([, { facts, state }]) => !facts["container"] && state === "ready");
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) seen[next[0]] = await readOne(next[1], signal, deps);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return seen;
}

/** One that cannot be read now is shown with what is known. */
async function readOne(
  object: StoredObject,
  signal: AbortSignal,
  { snapshots, hashKey, call, store }: Pick<ContainerDeps, "snapshots" | "hashKey" | "call" | "store">,
): Promise<StoredObject> {
  const account = findAccount(snapshots.current().channels, object, hashKey);
  if (!account) return object;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
  try {
    const request = { method: "GET", below: `/${object.id}`, isContainer: true, signal: limit } as const;
    const { facts } = readContainer((await readJson(await call(account, request))) as JsonObject);
    await store.change(object, { facts });
    return { ...object, facts };
  } catch (error) {
    if (!isMissing(error)) return object;
    await store.change(object, { state: "failed" });
    return { ...object, state: "failed" };
  }
}
