import { AppError } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import { openAccount, requireAccount, type OpenAccount } from "../objects/account.ts";
import { isObjectId } from "../objects/ids.ts";
import { unknownFile } from "../objects/library.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import { ObjectFailure } from "../objects/upstream.ts";
import { resolveContainersPath } from "../providers/core/route-url.ts";
import type { ResponseOwner } from "../relay/stateful/owners.ts";
import { unknownId } from "../relay/tenancy/unknown-id.ts";
import type { Snapshot } from "../snapshot/types.ts";
import type { ContainerCall, ContainerDeps } from "./types.ts";

/** A container of the caller, and the account that has it. */
export interface OwnContainer {
  readonly id: string;
  /** Undefined if an answer named it, and no client created it. */
  readonly object: StoredObject | undefined;
  readonly account: OpenAccount;
}

/** The answer for a container that does not exist, and for another user's. */
export function unknownContainer(id: string): AppError {
  return unknownId("container", id, "container_id");
}

/**
 * Finds a container that the caller created, or that an answer to the user named. An answer does not say which token it
 * went to, so a token that sees only its own files finds no container of an answer. Throws AppError.
 */
export async function requireContainer(
  id: string,
  { caller }: Pick<ContainerCall, "caller">,
  deps: ContainerDeps,
): Promise<OwnContainer> {
  if (!isObjectId(id)) throw unknownContainer(id);
  const snapshot = deps.snapshots.current();
  const viewer = deps.library.viewAs(caller);
  const object = await deps.store.find(id, viewer);
  if (object?.kind === "container") {
    if (object.state === "failed" || object.expiresAt <= seconds(deps.clock)) throw unknownContainer(id);
    const account = requireAccount(snapshot.channels, object, deps.hashKey);
    return { id, object, account: requireContainers(account) };
  }
  const owner = viewer.tokenId === undefined ? await deps.owners.find(id, caller.userId) : undefined;
  if (!owner) throw unknownContainer(id);
  return { id, object: undefined, account: requireContainers(requireOwner(id, owner, snapshot)) };
}

function requireOwner(id: string, { channelId, keyIndex }: ResponseOwner, { channels }: Snapshot): OpenAccount {
  const channel = channels.get(channelId);
  const account = channel && openAccount(channel, keyIndex);
  if (!account) throw new AppError("file_lost", { param: "container_id", values: { id } });
  return account;
}

/** Throws `unsupported_by_channel` for an account whose containers clients do not reach. */
function requireContainers(account: OpenAccount): OpenAccount {
  if (!hasContainers(account)) throw new AppError("unsupported_by_channel");
  return account;
}

/** True if clients create containers at this account. */
export function hasContainers({ service, channel }: OpenAccount): boolean {
  return service.dialect === "openai" && resolveContainersPath(service, channel) !== undefined;
}

/** Returns the error for the client; a container or a file in it that the upstream does not have is unknown. */
export function shownContainerError(error: unknown, id: string, fileId?: string): unknown {
  if (!(error instanceof ObjectFailure)) return error;
  if (error.status !== 404) return error.failure.error;
  return fileId === undefined ? unknownContainer(id) : unknownFile(fileId, "file_id");
}
