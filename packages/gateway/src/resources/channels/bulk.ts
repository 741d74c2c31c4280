import { CHANNEL_BULK_ACTIONS, CHANNEL_BULK_CAP, CHANNEL_STATUS, channelBulk, type ChannelInput } from "@fairway/wire";
import { implement, type Call, type Principal, type Route } from "../../http/endpoint.ts";
import { withDefaults } from "../../lib/defaults.ts";
import { Refusal } from "../../lib/refusal.ts";
import { checkSize } from "./create.ts";
import { deleteChannels, type DeletionDeps } from "./delete-routes.ts";
import { checkDestination, destinationCheck, parsedChannel, sharesSecrets, type CheckChange } from "./destination.ts";
import { changedFields, type ChannelFields, type TypeCheck } from "./input.ts";
import { isNarrow, NO_FILTER, type ChannelFilter } from "./query.ts";
import type { ChannelStore } from "./store.ts";
import type { LogTest } from "./test-log.ts";
import { checkSetting } from "./text-fields.ts";
import type { ChannelUpstream } from "./upstream.ts";
import type { ChannelRow } from "./view.ts";

export interface BulkRoutesDeps {
  readonly store: ChannelStore;
  readonly isType: TypeCheck;
  readonly upstream: ChannelUpstream;
  readonly logTest: LogTest;
  readonly cancelBatches: DeletionDeps["cancelBatches"];
}

type Body = Call<typeof channelBulk>["body"];

interface Result {
  readonly id: number;
  readonly success: boolean;
  readonly message: string;
  readonly time?: number;
}

const TESTS_AT_ONCE = 4;
const NO_REFUSALS: ReadonlyMap<number, Refusal> = new Map();

export function bulkRoutes(deps: BulkRoutesDeps): Route[] {
  return [
    implement(channelBulk, async ({ body, caller }) => {
      const action = CHANNEL_BULK_ACTIONS.find((name) => name === body.action);
      if (!action) throw new Refusal("unknown_action", { field: "action" });
      const ids = await resolveIds(deps.store, body);
      switch (action) {
        case "delete":
          return removeMany(deps, ids, body.force ?? false);
        case "test":
          return testMany(deps, ids, caller);
        case "enable":
          return patchMany(deps.store, ids, () => ({ status: CHANNEL_STATUS.enabled }));
        case "disable":
          return patchMany(deps.store, ids, () => ({ status: CHANNEL_STATUS.disabledByHand }));
        case "patch":
          return patchMany(deps.store, ids, createPatchBuilder(deps, body.patch ?? {}), destinationCheck(caller));
        case "sync":
          return sync(deps.store, ids, { from: body.from, caller });
      }
    }),
  ];
}

/**
 * Returns the ids of the call, or of its filter. A filter without conditions would select every channel, so it is
 * refused.
 */
async function resolveIds(store: ChannelStore, { ids, filter }: Body): Promise<number[]> {
  if (ids && ids.length > CHANNEL_BULK_CAP) {
    const values = { field: "ids", reason: `must be at most ${CHANNEL_BULK_CAP}` };
    throw new Refusal("invalid_field", { field: "ids", values });
  }
  if (ids && ids.length > 0) return [...new Set(ids)];
  const narrowed: ChannelFilter = withDefaults(NO_FILTER, filter ?? {});
  if (!isNarrow(narrowed)) throw new Refusal("channel_selection_missing", { field: "ids" });
  return (await store.ids(narrowed)).slice(0, CHANNEL_BULK_CAP);
}

async function removeMany(deps: BulkRoutesDeps, ids: readonly number[], isForced: boolean): Promise<Result[]> {
  const refused = isForced ? NO_REFUSALS : await deps.store.removeEach(ids);
  if (isForced) await deleteChannels(deps, ids, isForced);
  return ids.map((id) => {
    const refusal = refused.get(id);
    return { id, success: refusal === undefined, message: refusal?.message ?? "" };
  });
}

async function patchMany(
  store: ChannelStore,
  ids: readonly number[],
  change: (row: ChannelRow) => Partial<ChannelFields>,
  check?: CheckChange,
): Promise<Result[]> {
  const outcomes = await store.updateEach(ids, change, check);
  return ids.map((id) => {
    const error = outcomes.has(id) ? outcomes.get(id) : new Refusal("channel_not_found");
    return { id, success: error === undefined, message: error?.message ?? "" };
  });
}

/** A bulk change cannot set the key: many channels with the same key are a mistake. */
function createPatchBuilder(
  { isType }: BulkRoutesDeps,
  patch: ChannelInput,
): (row: ChannelRow) => Partial<ChannelFields> {
  return (row) => {
    const fields = changedFields(patch, row, isType);
    checkSize({ ...row, ...fields });
    return fields;
  };
}

/** Copies the routing and rewriting fields, except priority and weight, from one channel to others. */
async function sync(
  store: ChannelStore,
  ids: readonly number[],
  { from, caller }: { readonly from: number | undefined; readonly caller: Principal },
): Promise<Result[]> {
  const source = from === undefined ? undefined : await store.get(from);
  if (!source) throw new Refusal("channel_not_found", { field: "from" });
  const { models, group, model_mapping, status_code_mapping, setting, param_override, header_override } = source;
  const copied = { models, group, model_mapping, status_code_mapping, setting, param_override, header_override };
  const check = destinationCheck(caller);
  const keys = (check && (await store.findKey(source.id))) ?? "";
  const checkBoth: CheckChange | undefined =
    check &&
    ((change) => {
      check(change);
      // Secrets in the source's settings may only be sent to the servers of the source.
      if (sharesSecrets(source, copied))
        checkDestination(
          caller,
          () => parsedChannel(source, keys),
          () => parsedChannel(change.next, change.keys),
        );
    });
  const copyTo = ({ type }: ChannelRow): Partial<ChannelFields> => {
    checkSetting(setting ?? "", type, source);
    return copied;
  };
  return patchMany(store, ids, copyTo, checkBoth);
}

async function testMany(deps: BulkRoutesDeps, ids: readonly number[], caller: Principal): Promise<Result[]> {
  const results = new Map<number, Result>();
  const waiting = [...ids];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
      results.set(id, await testOne(deps, id, caller));
  };
  await Promise.all(Array.from({ length: TESTS_AT_ONCE }, worker));
  return ids.flatMap((id) => results.get(id) ?? []);
}

async function testOne({ upstream, logTest }: BulkRoutesDeps, id: number, caller: Principal): Promise<Result> {
  try {
    const result = await upstream.test(id, undefined);
    if (result.isOk) await logTest(id, caller, result);
    return { id, success: result.isOk, message: result.message, time: result.milliseconds / 1000 };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { id, success: false, message: error.message, time: 0 };
  }
}
