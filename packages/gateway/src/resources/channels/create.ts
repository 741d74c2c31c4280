import { CHANNEL_STATUS, type ChannelInput } from "@fairway/wire";
import { parseObject } from "../../lib/text/json.ts";
import { Refusal } from "../../lib/refusal.ts";
import { checkDestination, parsedChannel, type Addressed } from "./destination.ts";
import { newFields, splitKeys, type TypeCheck } from "./input.ts";
import type { ChannelStore } from "./store.ts";

/** More lines of keys than this are a mistake, not channels. */
const KEYS_PER_CALL = 1000;
/** More routing rows of one channel than this would slow down every refresh. */
const ABILITIES_PER_CHANNEL = 20_000;

export interface CreateInput extends ChannelInput {
  readonly id?: unknown;
  readonly copy_from?: number | undefined;
  readonly multi_key?: boolean | undefined;
}

export interface CreateDeps {
  readonly store: ChannelStore;
  readonly isType: TypeCheck;
  readonly caller: { readonly role: number };
}

/** Creates the channels of a form and returns their ids. */
export async function createChannels(deps: CreateDeps, input: CreateInput): Promise<number[]> {
  const { store, isType } = deps;
  if ((input.name ?? "").trim() === "") throw new Refusal("channel_name_or_key_missing", { field: "name" });
  const { key, source } = await resolveKey(store, input);
  const waits = key.trim() === "" && input.status === CHANNEL_STATUS.disabledByHand;
  if (key.trim() === "" && !waits) throw new Refusal("channel_name_or_key_missing", { field: "key" });
  const fields = newFields(input, isType, source);
  if (source)
    checkDestination(
      deps.caller,
      () => parsedChannel(source, key),
      () => parsedChannel(fields, key),
    );
  checkSize(fields);
  const isCopied = key !== input.key;
  const keys = splitKeys(key, fields.type, isCopied || input.multi_key === true);
  if (keys.length > KEYS_PER_CALL)
    throw new Refusal("invalid_field", {
      field: "key",
      values: { field: "key", reason: `has too many keys: send at most ${KEYS_PER_CALL} in one call` },
    });
  return store.create(fields, waits ? [""] : keys);
}

export interface WrappedInput extends CreateInput {
  readonly channel?: ChannelInput | undefined;
  readonly mode?: string | undefined;
  readonly multi_key_mode?: string | undefined;
}

const MODES = ["", "single", "batch", "multi_to_single"];

/**
 * Returns the form of a call, also from the member `channel` of later compatible consoles; throws `invalid_parameter`
 * for unknown modes.
 */
export function unwrapped({ channel, mode = "", multi_key_mode = "", ...form }: WrappedInput): CreateInput {
  if (channel === undefined) {
    if (mode !== "") throw misplaced("mode", "needs the form in the member channel");
    return form;
  }
  const [outside] = Object.keys(form);
  if (outside !== undefined) throw misplaced(outside, "belongs into the member channel");
  if (!MODES.includes(mode)) throw new Refusal("invalid_parameter", { field: "mode" });
  if (mode !== "multi_to_single") return channel;
  const { setting = "" } = channel;
  // A setting that is not an object is refused unchanged.
  const settings = setting.trim() === "" ? {} : parseObject(setting);
  const takesTurns = multi_key_mode !== "" && settings !== undefined;
  return {
    ...channel,
    multi_key: true,
    setting: takesTurns ? JSON.stringify({ ...settings, multi_key_mode }) : setting,
  };
}

function misplaced(field: string, reason: string): Refusal {
  return new Refusal("invalid_field", { field, values: { field, reason } });
}

/** Refuses lists whose product is too large. */
export function checkSize(fields: { readonly models?: string; readonly group?: string }): void {
  const { models = "", group = "" } = fields;
  if (models.split(",").length * group.split(",").length <= ABILITIES_PER_CHANNEL) return;
  throw new Refusal("invalid_field", {
    field: "models",
    values: {
      field: "models",
      reason: `has too many models for its groups: models times groups may be ${ABILITIES_PER_CHANNEL} at most`,
    },
  });
}

/** Returns the entered key, or the key of the channel that it is copied from. */
async function resolveKey(
  store: ChannelStore,
  input: CreateInput,
): Promise<{ readonly key: string; readonly source?: Addressed | undefined }> {
  const id = findSourceId(input);
  if (id === undefined) return { key: input.key ?? "" };
  const [key, source] = await Promise.all([store.findKey(id), store.get(id)]);
  if (key === undefined && input.copy_from !== undefined)
    throw new Refusal("channel_not_found", { field: "copy_from" });
  return key === undefined ? { key: input.key ?? "" } : { key, source };
}

/**
 * Returns the id of the channel to copy the key from. Lists show no key, so compatible consoles that copy a row send
 * its id in place of the key; ours sends it in `copy_from`.
 */
function findSourceId({ id, key = "", copy_from }: CreateInput): number | undefined {
  if (key.trim() === "") return copy_from;
  return typeof id === "number" && Number.isSafeInteger(id) && key.trim() === String(id) ? id : undefined;
}
