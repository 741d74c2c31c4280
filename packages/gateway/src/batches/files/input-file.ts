import { listedName } from "../../billing/pricing/listed-name.ts";
import { AppError } from "../../lib/app-error.ts";
import type { StoredObject } from "../../objects/stored-object.ts";
import type { BatchProtocolId } from "../../providers/core/batches.ts";
import { servingGroups } from "../../relay/admission/model-access.ts";
import { findAccount, type OpenAccount } from "../accounts.ts";
import { readBatchLimits } from "../admit.ts";
import type { BatchTarget } from "../choose-channel.ts";
import type { BatchCall, BatchDeps } from "../types.ts";
import { readFileLines, type FileLines, type LineRules } from "./read-lines.ts";

/** A file of requests, as the creation of a batch names it. */
export interface InputFile {
  readonly id: string;
  readonly protocol: BatchProtocolId;
  /** The member that names it. */
  readonly param: string;
}

/** Finds a caller's file; files of other protocols are unknown, like those of other users. */
export async function findInput(
  { id, protocol, param }: InputFile,
  { caller }: BatchCall,
  { library }: BatchDeps,
): Promise<StoredObject> {
  const object = await library.find(id, library.viewAs(caller));
  if (object.dialect === protocol) return object;
  throw new AppError("file_not_found", { param, values: { id: id.slice(0, 128) } });
}

/** A batch is created where its file is stored. */
export function requireFileAccount(
  { id, channelId, keyMark }: StoredObject,
  { protocol, param }: InputFile,
  deps: BatchDeps,
): OpenAccount {
  const account = findAccount({ channel_id: channelId, key_mark: keyMark }, deps);
  if (!account || account.support.protocol !== protocol || account.channel.setting["batches"] === false)
    throw new AppError("unsupported_by_channel", { message: "The upstream that stores the file takes no batches." });
  if (account.channel.status !== 1) throw new AppError("file_unavailable", { param, values: { id } });
  return account;
}

/** The channel of the file must serve the model for the caller. */
export function requireServed(
  { id, param }: InputFile,
  { model, channel }: { readonly model: string } & Pick<OpenAccount, "channel">,
  { caller }: BatchCall,
  { snapshots }: BatchDeps,
): BatchTarget {
  const snapshot = snapshots.current();
  const group = servingGroups(caller, snapshot).find((name) => {
    const index = snapshot.index.get(name);
    const levels = index?.get(model) ?? index?.get(listedName(model)) ?? [];
    return levels.some(({ channels }) => channels.includes(channel));
  });
  if (group === undefined) throw new AppError("file_not_on_channel", { param, values: { id, model } });
  return { channel, group };
}

/** Reads the requests of a stored file, within the limits of the gateway and of the upstream. */
export async function readInputLines(
  { object, account }: { readonly object: StoredObject; readonly account: OpenAccount },
  rules: Pick<LineRules, "operation" | "dialect" | "form">,
  call: BatchCall,
  deps: BatchDeps,
): Promise<FileLines> {
  const limits = readBatchLimits(deps.snapshots.current().options);
  const { channel, support } = account;
  const maxItems = Math.min(limits.maxItems, support.maxItems);
  const maxBytes = Math.min(limits.maxBytes, support.maxBytes);
  const gone = new AbortController();
  call.response.once("close", () => gone.abort(new AppError("client_closed_request")));
  const { body } = await deps.library.openContent(object, { signal: gone.signal });
  return readFileLines(body, { ...rules, channel, maxItems, maxBytes }, call, deps);
}
