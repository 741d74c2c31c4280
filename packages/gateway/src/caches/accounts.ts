import { findAccount, type OpenAccount } from "../objects/account.ts";
import { chooseAccounts } from "../objects/choose-account.ts";
import { isMissing } from "../objects/library.ts";
import { ObjectFailure } from "../objects/upstream.ts";
import { AppError } from "../lib/app-error.ts";
import { collect } from "../relay/upstream/collected-answer.ts";
import type { CacheService, ChannelRecord } from "../providers/core/types.ts";
import { providerByType } from "../providers/registry.ts";
import { servingGroups } from "../relay/admission/model-access.ts";
import { listsIds } from "../relay/request/shared-ids.ts";
import type { HashKey } from "../snapshot/key-marks.ts";
import type { Snapshot } from "../snapshot/types.ts";
import type { CreationRequest } from "./read-creation.ts";
import type { CacheCall, CacheDeps, CacheRow, StoredCacheDeps } from "./types.ts";

/** The account that takes a cache, and for which group. */
export interface CacheTarget {
  readonly account: OpenAccount;
  readonly group: string;
  readonly caches: CacheService;
}

/** Chooses the account of a new cache. Throws AppError that says what is missing. */
export function chooseTarget(
  asked: CreationRequest,
  { caller }: Pick<CacheCall, "caller">,
  snapshot: Snapshot,
  { selection }: Pick<CacheDeps, "selection">,
): CacheTarget {
  const groups = servingGroups(caller, snapshot);
  const accounts = chooseAccounts({ caller, dialect: "gemini", model: asked.model }, snapshot, selection);
  const { account, caches } = pick(accounts.flatMap(openCaches), asked, groups);
  const group = groups.find((one) => account.channel.groups.includes(one)) ?? groups[0] ?? "default";
  return { account, group, caches };
}

type Able = Pick<CacheTarget, "account" | "caches">;

function openCaches(account: OpenAccount): Able[] {
  const caches = findService(account.channel);
  return caches ? [{ account: serveCaches(account, caches), caches }] : [];
}

/** Picks the first account, or the one that stores the files that the cache names. */
function pick(able: readonly Able[], asked: CreationRequest, groups: readonly string[]): Able {
  const { model, pinnedAccount: pinned, sharedIds } = asked;
  const near = pinned
    ? able.filter(({ account: { channel } }) => pinned.keyIndex >= 0 && channel.id === pinned.channelId)
    : able;
  if (pinned && near.length === 0)
    throw new AppError("file_not_on_channel", { values: { id: pinned.file?.id ?? "", model } });
  const found = near.find(({ account }) => !sharedIds || listsIds(account.channel, sharedIds));
  if (found) return pinned ? { ...found, account: { ...found.account, keyIndex: pinned.keyIndex } } : found;
  if (sharedIds) throw sharedIds.refusal;
  throw new AppError("unsupported_by_channel", {
    message: `No channel of group ${groups.join(", ")} stores caches of ${model}.`,
  });
}

function findService({ type }: ChannelRecord): CacheService | undefined {
  return providerByType(type)?.caches;
}

/** Calls of the account go to its caches instead of its files. */
function serveCaches(account: OpenAccount, { dialect, path }: CacheService): OpenAccount {
  return { ...account, service: { dialect, path } };
}

/** Returns the account of a cache, also if its channel is disabled; undefined if the channel or its key no longer exists. */
export function findCacheAccount(
  { channel_id: channelId, key_mark: keyMark }: Pick<CacheRow, "channel_id" | "key_mark">,
  { snapshots, hashKey }: { readonly snapshots: StoredCacheDeps["snapshots"]; readonly hashKey: HashKey },
): OpenAccount | undefined {
  const account = findAccount(snapshots.current().channels, { channelId, keyMark }, hashKey);
  const caches = account && findService(account.channel);
  return caches && serveCaches(account, caches);
}

const DELETE_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Deletes a cache where it is stored; one that no longer exists there, or whose account does not, counts as deleted. */
export async function deleteAtAccount(row: CacheRow, deps: StoredCacheDeps): Promise<void> {
  const account = findCacheAccount(row, deps);
  if (!account || row.upstream_id === "") return;
  try {
    const below = `/${encodeURIComponent(row.upstream_id)}`;
    const answer = await deps.call(account, { method: "DELETE", below, signal: AbortSignal.timeout(DELETE_MS) });
    // The status has said that the cache no longer exists; the body is read only to free the connection.
    await collect(answer, MAX_ANSWER_BYTES).catch(() => undefined);
  } catch (error) {
    if (!isAbsent(error)) throw shownCacheError(error, row);
  }
}

/** True if the upstream does not have the cache, which some vendors say with the status of a refusal. */
function isAbsent(error: unknown): boolean {
  return isMissing(error) || (error instanceof ObjectFailure && error.failure.class === "not_found");
}

/** Returns the error for the client: an upstream's words name the cache by the gateway's id. */
export function shownCacheError(error: unknown, { id, upstream_id }: Pick<CacheRow, "id" | "upstream_id">): unknown {
  if (!(error instanceof ObjectFailure)) return error;
  if (upstream_id !== "" && isAbsent(error)) return unknownCache(id);
  const shown = error.failure.error;
  if (upstream_id !== "") shown.message = shown.message.replaceAll(upstream_id, id);
  return shown;
}

const MAX_SHOWN = 100;

/** The answer for a cache that does not exist, has expired, or belongs to another user. */
export function unknownCache(id: string): AppError {
  return new AppError("cache_not_found", { values: { id: id.slice(0, MAX_SHOWN) } });
}
