import { parseResponseId } from "../../dialects/bridges/responses-to-chat/own-ids.ts";
import type { SpareId } from "../../dialects/client-ids.ts";
import { exactJson, withMembers } from "../../dialects/core/request-spec.ts";
import { text } from "../../dialects/core/read.ts";
import type { Body, JsonObject } from "../../dialects/core/types.ts";
import { AppError, invalidRequest, unsupportedParameter } from "../../lib/app-error.ts";
import { jsonBody } from "../body/read-body.ts";
import type { ResponseOwner, ResponseOwners } from "../stateful/owners.ts";
import type { PinnedAccount, RelayRequest } from "../request/request.ts";
import type { DeriveId } from "./derive-id.ts";
import { findIds, withValues, type FoundId } from "./find-ids.ts";
import { findFileProtocol, findOwnFiles, type FindFiles, type StoredFile } from "./stored-files.ts";
import { unknownId } from "./unknown-id.ts";

export interface TenancyDeps {
  readonly owners: Pick<ResponseOwners, "findAll">;
  readonly deriveId: DeriveId;
  /** Absent where clients store no files. */
  readonly findFiles?: FindFiles;
}

/** A request with more ids is refused. */
const MAX_IDS = 5_000;
const ITEM_PREFIX = /^[a-z]{1,12}_/i;

interface Edit {
  readonly path: FoundId["path"];
  readonly value: string | undefined;
}

/** The ids of one request, sorted by how they are handled. */
interface SortedIds {
  readonly edits: Edit[];
  /** Ids that must belong to the user or to the operator. */
  readonly needed: FoundId[];
  /** Ids that are only looked up. */
  readonly optional: FoundId[];
  readonly spare: { readonly id: FoundId; readonly how: SpareId }[];
}

/**
 * Returns the request without anything that could reach another user's objects at the same upstream account; undefined
 * if it names none. The user's own objects bind the request to the account that has them. Rejects with the error of an
 * unknown id for everything else that has to exist.
 */
export function keepToTenant(request: RelayRequest, deps: TenancyDeps): Promise<RelayRequest> | undefined {
  const found = findIds(request.dialect.id, request.body.json());
  return found && keepIdsToTenant(request, found, deps);
}

async function keepIdsToTenant(
  request: RelayRequest,
  found: readonly FoundId[],
  deps: TenancyDeps,
): Promise<RelayRequest> {
  if (found.length > MAX_IDS) throw invalidRequest("input", `A request may name up to ${MAX_IDS} ids.`);
  const { userId } = request.caller;
  const derive = (member: string, value: string) => deps.deriveId(userId, member, value);
  const { edits, needed, optional, spare } = sorted(found, derive);
  const lookedUp = needed.length + optional.length > 0 ? [...needed, ...optional, ...spare.map(({ id }) => id)] : [];
  const own = await deps.owners.findAll([...new Set(lookedUp.map(({ value }) => value))], userId);
  const files = await findOwnFiles(needed, request, deps.findFiles);
  const inBody = new Set(spare.map(({ id }) => id.value));
  const shared: FoundId[] = [];
  for (const id of needed) {
    if (own.has(id.value)) continue;
    const file = files.get(id.value);
    if (file) edits.push({ path: id.path, value: file.sent });
    else if (id.rule.kind === "approval" && inBody.has(id.value)) spare.push({ id, how: "derived" });
    else shared.push(id);
  }
  for (const { id, how } of spare) if (!own.has(id.value)) edits.push(replacement(id, how, derive));
  const checked = withIds(edited(request, edits), { own, needed: [...needed, ...optional], shared });
  return files.size > 0 ? withFiles(checked, [...files.values()]) : checked;
}

/** Binds the request to the account that stores its files. */
function withFiles(request: RelayRequest, files: readonly StoredFile[]): RelayRequest {
  const { spec } = request;
  const pinnedAccount = files.reduce((pinned, file) => oneFileAccount(pinned, file, request), request.pinnedAccount);
  return {
    ...request,
    ...(pinnedAccount && { pinnedAccount }),
    spec: { ...spec, promptEstimate: spec.promptEstimate + files.reduce((sum, { tokens }) => sum + tokens, 0) },
  };
}

function oneFileAccount(
  pinned: PinnedAccount | undefined,
  file: StoredFile,
  { dialect, spec }: RelayRequest,
): PinnedAccount {
  const { id, channelId, keyIndex = -1 } = file;
  if (file.dialect !== findFileProtocol(dialect.id))
    throw new AppError("unsupported_by_channel", {
      message: `The file ${id} was uploaded in another protocol. Upload it again in the protocol of the request.`,
    });
  const other = pinned?.file?.id;
  const account = oneAccount(pinned, { channelId, keyIndex }, () =>
    other === undefined
      ? undefined
      : new AppError("files_on_different_channels", {
          param: "file_id",
          values: { id: other, other: id, model: spec.model },
        }),
  );
  return { ...account, file: { id, dialect: file.dialect } };
}

function sorted(found: readonly FoundId[], derive: (member: string, value: string) => string): SortedIds {
  const ids: SortedIds = { edits: [], needed: [], optional: [], spare: [] };
  for (const id of found) {
    const { rule, path, value, owner } = id;
    const how = rule.spare?.(owner);
    if (rule.isBound) continue;
    if (rule.treatment === "refused")
      throw unsupportedParameter(path.join("."), "It names what belongs to the operator.");
    if (rule.treatment === "derived") ids.edits.push({ path, value: derive(String(path.at(-1)), value) });
    else if (how && parseResponseId(value) === undefined) ids.spare.push({ id, how });
    else if (!how) (rule.isOptional ? ids.optional : ids.needed).push(id);
  }
  return ids;
}

/** An item and its approval keep naming the same thing. */
function replacement(
  { path, value, rule }: FoundId,
  how: SpareId,
  derive: (member: string, value: string) => string,
): Edit {
  if (how === "dropped") return { path, value: undefined };
  const prefix = ITEM_PREFIX.exec(value)?.[0] ?? "";
  return { path, value: `${prefix}${derive(rule.kind === "container" ? "container" : "item", value)}` };
}

interface CheckedIds {
  readonly own: ReadonlyMap<string, ResponseOwner>;
  readonly needed: readonly FoundId[];
  readonly shared: readonly FoundId[];
}

function withIds(request: RelayRequest, { own, needed, shared }: CheckedIds): RelayRequest {
  const owners = needed.flatMap(({ value }) => own.get(value) ?? []);
  const pinnedAccount = owners.reduce<PinnedAccount | undefined>(
    (pinned, owner) => oneAccount(pinned, owner),
    request.pinnedAccount,
  );
  const [first] = shared;
  return {
    ...request,
    ...(pinnedAccount && { pinnedAccount }),
    ...(own.size > 0 && { ownIds: new Set(own.keys()) }),
    ...(first && {
      sharedIds: {
        ids: [...new Set(shared.map(({ value }) => value))],
        refusal: unknownId(first.rule.kind, first.value, first.path.join(".")),
      },
    }),
  };
}

function oneAccount(
  pinned: PinnedAccount | undefined,
  owner: Pick<ResponseOwner, "channelId" | "keyIndex">,
  refusal: () => AppError | undefined = () => undefined,
): PinnedAccount {
  if (!pinned || (pinned.channelId === owner.channelId && pinned.keyIndex === owner.keyIndex)) return owner;
  const error = refusal();
  if (error) throw error;
  throw new AppError("previous_response_unavailable", {
    message: "The ids of this request are stored at different upstream accounts: send the items whole instead.",
  });
}

function edited(request: RelayRequest, edits: readonly Edit[]): RelayRequest {
  if (edits.length === 0) return request;
  const json = withValues(exactJson(request.body), edits);
  if (request.upload)
    return { ...request, body: { bytes: request.body.bytes, json: () => json }, formEdits: readTexts(json, edits) };
  const names = [...new Set(edits.map(({ path }) => String(path[0])))];
  const changed = names.map((key) => ({ key, json: JSON.stringify(json[key]) }));
  return { ...request, body: editedBody(request.body, changed) };
}

function editedBody(body: Body, changed: Parameters<typeof withMembers>[1]): Body {
  const bytes = withMembers(body, changed);
  body.forget?.();
  return jsonBody(bytes);
}

/** Fields of a form are texts. */
function readTexts(json: JsonObject, edits: readonly Edit[]): ReadonlyMap<string, string> {
  return new Map(edits.map(({ path: [name = ""] }) => [String(name), text(json, String(name)) ?? ""]));
}
