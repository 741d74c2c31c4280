import type { Body, Dialect, JsonObject, Operation, RequestSpec } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { JsonScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../lib/text/json-scanner.ts";
import { checkMembers, getMemberNames } from "../../relay/body/member-names.ts";
import { jsonBody } from "../../relay/body/read-body.ts";
import { CallProgress } from "../../relay/request/call-progress.ts";
import { judgeTaskPrompt } from "../../relay/policies/guardrail/elsewhere.ts";
import type { SharedIds } from "../../relay/request/shared-ids.ts";
import { findIds } from "../../relay/tenancy/find-ids.ts";
import { keepToTenant } from "../../relay/tenancy/keep-to-tenant.ts";
import type { BatchCall, BatchDeps } from "../types.ts";

/** One request of a batch. */
export interface ItemRequest {
  /** Name of the member that holds the request. */
  readonly member: string;
  readonly body: JsonObject;
  readonly bytes: Buffer;
  readonly model: string;
  readonly operation: Operation;
  readonly dialect: Dialect;
}

export interface CheckedItem {
  /** What its price depends on. */
  readonly spec: RequestSpec;
  /** Ids that only a channel that lists them may get. */
  readonly sharedIds?: SharedIds;
  /** The request with ids that are derived for each user. */
  readonly edited?: JsonObject;
}

const TOKEN_BYTES = 3;
const UNKNOWN_SPEC = {
  stream: false,
  wantsStreamUsage: false,
  promptEstimate: 0,
  outputCap: undefined,
  units: 1,
} as const;

/**
 * Checks what the gateway itself has to say about an item; everything else is left to the upstream. Throws AppError
 * whose `param` is relative to the item.
 */
export async function checkItem(item: ItemRequest, call: BatchCall, deps: BatchDeps): Promise<CheckedItem> {
  const { dialect } = item;
  const body = jsonBody(item.bytes);
  checkNames(item);
  deps.checkWords(() => dialect.promptWords(body), call.requestId);
  await judge(item, body, call, deps);
  const spec = inspect(item, body);
  return findIds(dialect.id, item.body) ? { spec, ...(await keepIds(item, { body, spec }, call, deps)) } : { spec };
}

/** Refuses names that another reader may take for one that the gateway reads. */
function checkNames({ member, body, bytes, dialect }: ItemRequest): void {
  const scanner = new JsonScanner({ maxDepth: MAX_JSON_DEPTH, maxValues: MAX_JSON_VALUES, maxBytes: bytes.length });
  scanner.write(bytes);
  try {
    checkMembers({ json: body, bytes, members: scanner.members }, getMemberNames(dialect.id));
  } catch (error) {
    const { param, message } = AppError.from(error);
    throw invalidRequest(param === undefined ? member : `${member}.${param}`, message);
  }
}

async function judge({ model, dialect }: ItemRequest, body: Body, call: BatchCall, deps: BatchDeps): Promise<void> {
  const snapshot = deps.snapshots.current();
  if (!snapshot.guardrail?.checksPrompts) return;
  const spec = { operation: "batch", dialect: dialect.id, model, stream: false };
  const request = { id: call.requestId, caller: call.caller, spec, progress: new CallProgress() };
  await judgeTaskPrompt(request, dialect.promptWords(body), { snapshot, guardrail: deps.guardrail });
}

async function keepIds(
  { member, body: before, dialect }: ItemRequest,
  { body, spec }: { readonly body: Body; readonly spec: RequestSpec },
  { requestId, caller, request, startedAt }: BatchCall,
  deps: BatchDeps,
): Promise<Omit<CheckedItem, "spec">> {
  const checked = await keepToTenant(
    {
      id: requestId,
      spec,
      dialect,
      body,
      contentType: "application/json",
      caller,
      url: request.url ?? "",
      protocolHeaders: {},
      startedAt,
      autoGroup: undefined,
      isPlayground: false,
      progress: new CallProgress(),
    },
    deps,
  );
  if (!checked) return {};
  if (checked.pinnedAccount)
    throw invalidRequest(member, "it continues an earlier answer; send the whole conversation instead.");
  const { sharedIds } = checked;
  const edited = checked.body === body ? undefined : checked.body.json();
  return { ...(sharedIds && { sharedIds }), ...(edited && edited !== before && { edited }) };
}

/** An item that the vendor will refuse is estimated by its size. */
function inspect({ dialect, model, operation, bytes }: ItemRequest, body: Body): RequestSpec {
  try {
    return dialect.inspect(body, operation, dialect.errors === "gemini" ? model : undefined);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const promptEstimate = Math.ceil(bytes.length / TOKEN_BYTES);
    return { ...UNKNOWN_SPEC, operation, dialect: dialect.id, model, promptEstimate };
  }
}
