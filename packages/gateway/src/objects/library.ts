import type { JsonObject } from "../dialects/core/types.ts";
import type { Caller } from "../identity/authentication/caller.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import { AppError } from "../lib/app-error.ts";
import type { ObjectDialect, UpstreamAnswer } from "../providers/core/types.ts";
import type { SnapshotStore } from "../snapshot/types.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import { collect } from "../relay/upstream/collected-answer.ts";
import type { HashKey } from "../snapshot/key-marks.ts";
import { requireAccount, type OpenAccount } from "./account.ts";
import { createObjectId, isObjectId } from "./ids.ts";
import type { ObjectStore, Viewer } from "./store.ts";
import type { ObjectAccount, StoredObject } from "./stored-object.ts";
import { ObjectFailure, type CallAccount } from "./upstream.ts";

export interface LibraryDeps {
  readonly store: ObjectStore;
  readonly snapshots: Pick<SnapshotStore, "current">;
  readonly call: CallAccount;
  readonly hashKey: HashKey;
  readonly clock: Clock;
}

/** Finds a file that no row holds, because an answer named it; undefined if no answer to the user did. */
type Adopt = (id: string, viewer: Viewer) => Promise<StoredObject | undefined>;

/** An object that an upstream made by itself, such as the output of a batch. */
export interface MadeObject extends ObjectAccount {
  readonly userId: number;
  readonly tokenId: number;
  readonly dialect: ObjectDialect;
  readonly upstreamId: string;
  readonly name: string;
  readonly mime: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly facts?: JsonObject;
  /** Epoch seconds; 0 = never. */
  readonly expiresAt: number;
  /** Absent = a new id of the gateway. */
  readonly id?: string;
}

export interface ContentRequest {
  readonly signal: AbortSignal;
  /** Header `Range` of the client. */
  readonly range?: string | undefined;
}

/** The objects that upstreams store for users, as the other parts of the gateway use them. */
export interface ObjectLibrary {
  /** Finds a caller's object; throws the same `file_not_found` for unknown, expired and other users' ids. */
  find(id: string, viewer: Viewer): Promise<StoredObject>;
  /**
   * Reads the content from where it is stored, also if the channel is disabled; with back-pressure. Throws `file_lost`
   * if the account no longer exists, `file_not_found` if the upstream no longer has it, and the upstream's own refusals.
   */
  openContent(object: StoredObject, request: ContentRequest): Promise<UpstreamAnswer>;
  /**
   * Registers a file that an upstream made; without a quota, because the upstream has it already. Within `tx` the row
   * commits together with what names it.
   */
  register(object: MadeObject, tx?: RawTransaction): Promise<StoredObject>;
  /** Returns what the caller may see: everything of the user, or what its token made. */
  viewAs(caller: Pick<Caller, "userId" | "tokenId">): Viewer;
}

export function createLibrary(deps: LibraryDeps & { readonly adopt: Adopt }): ObjectLibrary {
  const { store, snapshots, clock } = deps;
  return {
    async find(id, viewer) {
      const object = isObjectId(id) ? ((await store.find(id, viewer)) ?? (await deps.adopt(id, viewer))) : undefined;
      if (!object) throw unknownFile(id);
      if (isExpired(object, seconds(clock))) throw expiredFile(object);
      return object;
    },
    openContent: (object, request) => openContent(object, request, deps),
    async register(made, tx) {
      const object: StoredObject = {
        facts: {},
        ...made,
        id: made.id ?? createObjectId(made.dialect, "file", clock.now()),
        kind: "file",
        state: "ready",
        createdAt: seconds(clock),
        nextCheckAt: made.expiresAt,
      };
      await store.create(object, undefined, tx);
      return object;
    },
    viewAs({ userId, tokenId }) {
      return snapshots.current().options.FileVisibility === "token" ? { userId, tokenId } : { userId };
    },
  };
}

async function openContent(
  object: StoredObject,
  { signal, range }: ContentRequest,
  { call, snapshots, store, hashKey }: LibraryDeps,
): Promise<UpstreamAnswer> {
  const account = requireAccount(snapshots.current().channels, object, hashKey);
  const id = encodeURIComponent(object.upstreamId);
  const isMedia = object.dialect === "gemini";
  try {
    return await call(account, {
      method: "GET",
      below: isMedia ? `/${id}:download` : `/${id}/content`,
      ...(isMedia && { query: { alt: "media" } }),
      headers: { accept: "*/*", ...(range !== undefined && { range }) },
      signal,
    });
  } catch (error) {
    if (isMissing(error)) await store.change(object, { state: "failed" });
    throw shownError(error, object);
  }
}

/** Deletes an object at its account; rejects like every call of an account. */
export async function deleteAt(
  account: OpenAccount,
  { upstreamId, kind }: Pick<StoredObject, "upstreamId" | "kind">,
  { call, signal }: Pick<LibraryDeps, "call"> & { readonly signal: AbortSignal },
): Promise<void> {
  const below = `/${encodeURIComponent(upstreamId)}`;
  const answer = await call(account, { method: "DELETE", below, isContainer: kind === "container", signal });
  // The status has said that the object no longer exists; the body is read only to free the connection.
  await collect(answer, MAX_ANSWER_BYTES).catch(() => undefined);
}

const MAX_ANSWER_BYTES = 64 * 1024;

/** True if the upstream says that it does not have the object. */
export function isMissing(error: unknown): boolean {
  return error instanceof ObjectFailure && error.status === 404;
}

/** Returns the error for the client: an upstream's words name the object by the gateway's id. */
export function shownError(error: unknown, object: Pick<StoredObject, "id" | "upstreamId">): unknown {
  if (!(error instanceof ObjectFailure)) return error;
  if (isMissing(error)) return unknownFile(object.id);
  const shown = error.failure.error;
  if (object.upstreamId !== "") shown.message = shown.message.replaceAll(object.upstreamId, object.id);
  return shown;
}

function isExpired({ state, expiresAt }: StoredObject, now: number): boolean {
  return state === "expired" || (expiresAt > 0 && expiresAt <= now);
}

const MAX_SHOWN = 100;

/** The answer for an id that does not exist, and for everything that the caller may not know to exist. */
export function unknownFile(id: string, param = "id"): AppError {
  return new AppError("file_not_found", { param, values: { id: id.slice(0, MAX_SHOWN) } });
}

/** Clients of Anthropic read that a file has expired; for the others it does not exist. */
function expiredFile({ id, dialect }: StoredObject): AppError {
  return dialect === "anthropic"
    ? new AppError("file_not_found", { param: "id", values: { id }, details: { error_code: "file_expired" } })
    : unknownFile(id);
}
