import type { JsonObject } from "../dialects/core/types.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { providerByType } from "../providers/registry.ts";
import type { ResponseOwner } from "../relay/stateful/owners.ts";
import { markKey, type HashKey, type OpenAccount } from "./account.ts";
import { anthropicFiles } from "./shapes/anthropic.ts";
import type { ObjectStore, Viewer } from "./store.ts";
import type { StoredObject } from "./stored-object.ts";
import { ObjectFailure, readJson, type CallAccount } from "./upstream.ts";

/** Finds the account whose answer to this user named an id. */
type FindNamed = (id: string, userId: number) => Promise<ResponseOwner | undefined>;

interface AdoptDeps {
  readonly store: ObjectStore;
  readonly channels: () => ReadonlyMap<number, ChannelRecord>;
  readonly call: CallAccount;
  readonly hashKey: HashKey;
  readonly clock: Clock;
  readonly findNamed: FindNamed;
}

/** Files that code of a vendor has written; other ids of answers name no files. */
const FILE_ID = /^file_/;
const READ_MS = 10_000;

/**
 * Registers a file that an answer to the user named, when it is asked about for the first time: the account is known
 * from the answer, and the rest from its upstream. An answer does not say which token it went to, so a token that sees
 * only its own files adopts none.
 */
export async function adoptMinted(
  id: string,
  { userId, tokenId }: Viewer,
  deps: AdoptDeps,
): Promise<StoredObject | undefined> {
  if (tokenId !== undefined || !FILE_ID.test(id)) return undefined;
  const owner = await deps.findNamed(id, userId);
  const account = owner && openAccount(owner, deps.channels());
  const answer = account && (await readFile(id, account, deps));
  if (!answer) return undefined;
  const object = createMinted(id, userId, { answer, account, deps });
  // Another call may have adopted it at the same time.
  await deps.store.create(object).catch(async (error: unknown) => {
    if (!(await deps.store.find(id, { userId }))) throw error;
  });
  return object;
}

function openAccount(
  { channelId, keyIndex }: ResponseOwner,
  channels: ReadonlyMap<number, ChannelRecord>,
): OpenAccount | undefined {
  const channel = channels.get(channelId);
  const service = channel && providerByType(channel.type)?.files;
  if (!channel || service?.dialect !== anthropicFiles.dialect) return undefined;
  if (keyIndex >= channel.keys.length) return undefined;
  return { channel, keyIndex, service };
}

/** Undefined if the upstream does not have the file. */
async function readFile(id: string, account: OpenAccount, { call }: AdoptDeps): Promise<JsonObject | undefined> {
  const signal = AbortSignal.timeout(READ_MS);
  try {
    const answer = await call(account, { method: "GET", below: `/${encodeURIComponent(id)}`, signal });
    return (await readJson(answer)) as JsonObject;
  } catch (error) {
    if (error instanceof ObjectFailure) {
      if (error.status === 404) return undefined;
      throw error.failure.error;
    }
    throw error;
  }
}

function createMinted(
  id: string,
  userId: number,
  {
    answer,
    account: { channel, keyIndex },
    deps: { hashKey, clock },
  }: { readonly answer: JsonObject; readonly account: OpenAccount; readonly deps: AdoptDeps },
): StoredObject {
  const { upstreamId, name = "", mime = "", expiresAt, facts } = anthropicFiles.readUpload(answer);
  const bytes = answer["size_bytes"];
  return {
    id,
    userId,
    tokenId: 0,
    kind: "file",
    dialect: anthropicFiles.dialect,
    channelId: channel.id,
    keyMark: markKey(channel.keys[keyIndex] ?? "", hashKey),
    upstreamId,
    name,
    mime,
    purpose: "",
    bytes: typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0,
    state: "ready",
    facts,
    createdAt: seconds(clock),
    expiresAt,
    nextCheckAt: expiresAt,
  };
}
