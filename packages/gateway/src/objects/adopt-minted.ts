import type { JsonObject } from "../dialects/core/types.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import type { ResponseOwner } from "../relay/stateful/owners.ts";
import { markKey, type HashKey } from "../snapshot/key-marks.ts";
import { openAccount, type OpenAccount } from "./account.ts";
import { anthropicFiles } from "./shapes/anthropic.ts";
import { geminiFiles } from "./shapes/gemini.ts";
import type { FileShape } from "./shapes/shape.ts";
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

/** How answers of a protocol name the files that code of its vendor has written. */
interface MintedNames {
  readonly shape: FileShape;
  readonly id: RegExp;
  /** What precedes the id in answers. */
  readonly prefix: string;
}

const MINTED: readonly MintedNames[] = [
  { shape: anthropicFiles, id: /^file_/, prefix: "" },
  { shape: geminiFiles, id: /^[a-z0-9-]{1,40}$/, prefix: "files/" },
];
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
  const names = tokenId === undefined ? MINTED.find((one) => one.id.test(id)) : undefined;
  const owner = names && (await deps.findNamed(`${names.prefix}${id}`, userId));
  const account = owner && findNamedAccount(owner, names.shape, deps.channels());
  const answer = account && (await readFile(id, account, deps));
  if (!answer) return undefined;
  const object = createMinted(id, userId, { answer, account, shape: names.shape, deps });
  // Another call may have adopted it at the same time.
  await deps.store.create(object).catch(async (error: unknown) => {
    if (!(await deps.store.find(id, { userId }))) throw error;
  });
  return object;
}

function findNamedAccount(
  { channelId, keyIndex }: ResponseOwner,
  { dialect }: FileShape,
  channels: ReadonlyMap<number, ChannelRecord>,
): OpenAccount | undefined {
  const channel = channels.get(channelId);
  const account = channel && openAccount(channel, keyIndex);
  return account?.service.dialect === dialect ? account : undefined;
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

interface Minted {
  readonly answer: JsonObject;
  readonly account: OpenAccount;
  readonly shape: FileShape;
  readonly deps: AdoptDeps;
}

/** Google writes sizes as texts. */
function readSize(answer: JsonObject): number {
  const bytes = Number(answer["size_bytes"] ?? answer["sizeBytes"] ?? 0);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0;
}

function createMinted(
  id: string,
  userId: number,
  { answer, account: { channel, keyIndex }, shape, deps: { hashKey, clock } }: Minted,
): StoredObject {
  const { upstreamId, name = "", mime = "", expiresAt, facts } = shape.readUpload(answer);
  return {
    id,
    userId,
    tokenId: 0,
    kind: "file",
    dialect: shape.dialect,
    channelId: channel.id,
    keyMark: markKey(channel.keys[keyIndex] ?? "", hashKey),
    upstreamId,
    name,
    mime,
    purpose: "",
    bytes: readSize(answer),
    state: "ready",
    facts,
    createdAt: seconds(clock),
    expiresAt,
    nextCheckAt: expiresAt,
  };
}
