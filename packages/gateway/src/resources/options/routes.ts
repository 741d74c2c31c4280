import {
  checkOption,
  isWithoutEffect,
  MESSAGE_CODES,
  messageText,
  optionBatch,
  optionHistory,
  optionList,
  optionPrices,
  optionReset,
  optionUpdate,
  resolvePage,
  parseOptions,
  type OptionCheck,
  type OptionDefaults,
  type OptionError,
  type OptionRow,
  type OptionValues,
} from "@fairway/wire";
import type { RequestContext } from "../../http/context.ts";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { listOptionPrices } from "./prices.ts";
import type { OptionStore, OptionWrite, Writer } from "./store.ts";

export interface OptionRoutesDeps {
  readonly store: OptionStore;
  readonly defaults: OptionDefaults;
  readonly snapshot: () => Pick<Snapshot, "prices" | "index">;
}

type Refused = Extract<OptionCheck, { isValid: false }>;

export function optionRoutes({ store, defaults, snapshot }: OptionRoutesDeps): Route[] {
  const values = async (extra: readonly OptionRow[] = []): Promise<OptionValues> =>
    parseOptions([...(await store.stored()), ...extra], { defaults });

  return [
    implement(optionList, async (call) => {
      call.sibling("filled", await store.filledSecrets());
      setTag(call.response, await store.tag());
      return store.visible();
    }),
    implement(optionUpdate, async (call) => {
      const { key = "", value } = call.body;
      if (key === "") throw new Refusal("invalid_parameter", { field: "key" });
      // Forms of compatible consoles send an unchanged secret without a value, so it stays.
      if (value === undefined || isWithoutEffect(key)) return;
      const check = checkOption(key, String(value), await values());
      if (!check.isValid) throw toRefusal(check, key);
      await store.write([check], toWriter(call), tagCheck(call.request));
      setTag(call.response, await store.tag());
    }),
    implement(optionBatch, async (call) => {
      const sent = call.body.filter(({ key }) => !isWithoutEffect(key));
      const rows = sent.map(({ key, value }) => ({ key, value: String(value) }));
      const changes = checkAll(rows, await values(rows));
      if (changes.length > 0) await store.write(changes, toWriter(call), tagCheck(call.request));
      setTag(call.response, await store.tag());
    }),
    implement(optionReset, async (call) => {
      await store.write([{ key: "ModelRatio", text: undefined }], toWriter(call));
      call.message(messageText("model_ratios_reset"));
    }),
    implement(optionHistory, async (call) => {
      const { changes, total } = await store.history({ key: call.query.key, ...resolvePage(call.query) });
      call.setTotal(total);
      return changes;
    }),
    implement(optionPrices, () => listOptionPrices(snapshot())),
  ];
}

/**
 * Checks each change against the values after all changes: a switch may come together with the options that it needs.
 */
function checkAll(rows: readonly OptionRow[], after: OptionValues): OptionWrite[] {
  const checks = rows.map(({ key, value }) => ({ key, check: checkOption(key, value, after) }));
  const refused = checks.flatMap(({ key, check }) => (check.isValid ? [] : [{ key, check }]));
  const [first] = refused;
  if (first) {
    const errors = refused.map(({ key, check }): OptionError => ({
      key,
      code: MESSAGE_CODES[check.messageKey],
      message: messageText(check.messageKey, check.values),
    }));
    throw toRefusal(first.check, first.key, { errors });
  }
  return checks.flatMap(({ check }) => (check.isValid ? [check] : []));
}

function toRefusal(
  { messageKey, values }: Refused,
  field: string,
  siblings: Readonly<Record<string, unknown>> = {},
): Refusal {
  return new Refusal(messageKey, { values, field, siblings });
}

function toWriter({ caller, context }: { readonly caller: Principal; readonly context: RequestContext }): Writer {
  return { userId: caller.userId, username: caller.username, ip: context.ip };
}
