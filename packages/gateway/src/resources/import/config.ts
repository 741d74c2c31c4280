import { CHANNEL_STATUS, type OptionRow } from "@fairway/wire";
import { createHash } from "node:crypto";
import { seconds, type Clock } from "../../lib/clock.ts";
import { rebuildAbilities } from "../channels/abilities.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";
import { bump } from "../../storage/revisions.ts";
import { providerByType } from "../../providers/registry.ts";
import type { Vault } from "../ports.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import type { OptionWrite, Writer } from "../options/store.ts";
import type { ImportReport } from "./report.ts";
import type { GroupNames } from "./groups.ts";
import { noteGroups, noteUnpriced, optionStoreOf, withWrites } from "./options.ts";
import { priceWrites } from "./prices.ts";
import { readLitellm, type LitellmChannel } from "./read.ts";
import { upstreamPrices } from "./upstream-prices.ts";
import { storeSecrets } from "../../storage/secrets/store-secrets.ts";

export interface LitellmImport {
  readonly target: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly isDry: boolean;
  /** YAML. */
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Author in the history of options. */
  readonly writer: Writer;
  readonly groups: GroupNames;
  readonly prices: {
    readonly areChannelsAsked: boolean;
    /** Address of the LiteLLM that is left; asked with the master key of its configuration. */
    readonly former: string | undefined;
  };
}

/** Channels of a LiteLLM configuration. One that is here already stays as it is. */
export async function importConfig(settings: LitellmImport, report: ImportReport): Promise<void> {
  const { groups } = settings;
  const { channels, costs, retries, masterKey, notes } = readLitellm(settings.text, settings.env, groups);
  for (const channel of channels) await importChannel(settings, channel, report);
  const store = optionStoreOf(settings);
  const stored = await store.stored();
  report.notes.push(...notes);
  const { areChannelsAsked, former } = settings.prices;
  const served = channels.map(({ baseUrl, key, models }) => ({ address: baseUrl, key, models }));
  const published = await upstreamPrices(
    { areChannelsAsked, former: former === undefined ? undefined : { address: former, key: masterKey } },
    { channels: served, options: withWrites(stored, priceWrites(costs, stored)) },
    report,
  );
  const prices = priceWrites(new Map([...published, ...costs]), stored, report);
  const writes = [...prices, ...retryWrites(retries, stored, report)];
  const after = withWrites(stored, writes);
  noteGroups(groups, after, report);
  noteUnpriced(report, channels, after);
  if (!settings.isDry && writes.length > 0) await store.write(writes, settings.writer);
}

/** An operator's own number stays. */
function retryWrites(retries: number | undefined, stored: readonly OptionRow[], report: ImportReport): OptionWrite[] {
  if (retries === undefined) return [];
  const isStored = stored.some(({ key }) => key === "RetryTimes");
  report.count("options", isStored ? "unchanged" : "created");
  return isStored ? [] : [{ key: "RetryTimes", text: String(Math.max(0, Math.trunc(retries))) }];
}

async function importChannel(
  { target, vault, clock, isDry, groups }: LitellmImport,
  channel: LitellmChannel,
  report: ImportReport,
): Promise<void> {
  const isLimited = Object.keys(channel.limits).length > 0;
  const parts = [channel.baseUrl, channel.key, channel.other, channel.weight, [...channel.models]];
  const limited = isLimited ? [...parts, channel.limits] : parts;
  const place = JSON.stringify(channel.accessGroups.length > 0 ? [...limited, channel.accessGroups] : limited);
  const name = `litellm ${channel.provider} ${createHash("sha256").update(place).digest("hex").slice(0, 8)}`;
  const find = target.db.selectFrom("channels").select("id").where("name", "=", name).where("type", "=", channel.type);
  if (await find.executeTakeFirst()) return report.count("channels", "unchanged");
  report.count("channels", "created");
  const isKeyless = channel.key === "" && providerByType(channel.type)?.isKeyOptional !== true;
  if (isKeyless)
    report.remark("channel(s) without a key, off until one is set", [...channel.models.keys()].join(" + "));
  if (isDry) return;
  const renamed = [...channel.models].filter(([here, there]) => here !== there);
  const row = {
    type: channel.type,
    key_sealed: "",
    key_hash: vault.hashKey(channel.key),
    openai_organization: "",
    test_model: "",
    // Without its key it could only fail.
    status: isKeyless ? CHANNEL_STATUS.disabledByHand : CHANNEL_STATUS.enabled,
    name,
    weight: channel.weight,
    created_time: seconds(clock),
    base_url: channel.baseUrl,
    other: channel.other,
    models: [...channel.models.keys()].join(","),
    group: groups.all(["default", ...channel.accessGroups]).join(","),
    model_mapping: renamed.length > 0 ? JSON.stringify(Object.fromEntries(renamed)) : "",
    status_code_mapping: "",
    tag: null,
    setting: isLimited ? JSON.stringify({ limits: channel.limits }) : null,
    param_override: null,
    used_quota: 0,
  };
  await transact(target.db, async (trx) => {
    const id = await insertRow(trx, "channels", row);
    await storeSecrets(trx, vault, id, { key: channel.key, texts: row });
    await rebuildAbilities(trx, [{ ...row, id, priority: 0 }]);
    await bump(rawOn(trx, target.kind), target.kind, "channels");
  });
}
