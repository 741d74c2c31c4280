import { CHANNEL_STATUS } from "@fairway/wire";
import { createHash } from "node:crypto";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { providerByType } from "../../providers/registry.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";
import { bump } from "../../storage/revisions.ts";
import { storeSecrets } from "../../storage/secrets/store-secrets.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import { rebuildAbilities } from "../channels/abilities.ts";
import { checkSetting } from "../channels/text-fields.ts";
import type { Vault } from "../ports.ts";
import type { ImportedChannel } from "./gateway-config.ts";
import type { GroupNames } from "./groups.ts";
import type { ImportReport } from "./report.ts";

interface Target {
  readonly target: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly groups: GroupNames;
}

const MAX_NAME = 180;

/** Creates the channels that do not exist yet; those of an earlier run are found by their names. */
export async function importChannels(
  target: Target,
  channels: readonly ImportedChannel[],
  report: ImportReport,
): Promise<void> {
  const used = new Map<string, number>();
  for (const channel of channels) {
    const base = (channel.name || `${channel.provider} ${firstModel(channel)}`).slice(0, MAX_NAME);
    const count = (used.get(base) ?? 0) + 1;
    used.set(base, count);
    await importChannel(target, channel, { name: count === 1 ? base : `${base} (${count})`, report });
  }
}

function firstModel({ models }: ImportedChannel): string {
  const [first = ""] = models.keys();
  return first;
}

interface Named {
  readonly name: string;
  readonly report: ImportReport;
}

async function importChannel(place: Target, channel: ImportedChannel, { name, report }: Named): Promise<void> {
  const { target, vault } = place;
  const known = await target.db
    .selectFrom("channels")
    .select(["name", "key_hash", "base_url"])
    .where("name", "in", [name, earlierName(channel)])
    .where("type", "=", channel.type)
    .executeTakeFirst();
  if (known) {
    const isOther = known.key_hash !== vault.hashKey(channel.key) || known.base_url !== channel.baseUrl;
    if (isOther) report.notes.push(`the channel ${known.name} is here with another key or address: it stays as it is`);
    return report.count("channels", "unchanged");
  }
  report.count("channels", "created");
  const status = resolveStatus(channel, { name, report });
  await storeChannel(place, channel, { name, status, setting: buildSetting(channel, { name, report }) });
}

/** Disables a channel without a key or address, which could only fail. */
function resolveStatus({ type, key, baseUrl }: ImportedChannel, { name, report }: Named): number {
  const provider = providerByType(type);
  const isKeyless = key === "" && provider?.isKeyOptional !== true;
  const isNowhere = baseUrl === "" && provider?.baseUrl === "" && provider.base === undefined;
  if (isKeyless) report.remark("channel(s) without a key, off until one is set", name);
  if (isNowhere) report.remark("channel(s) without an address, off until one is set", name);
  return isKeyless || isNowhere ? CHANNEL_STATUS.disabledByHand : CHANNEL_STATUS.enabled;
}

function buildSetting({ type, limits, setting }: ImportedChannel, { name, report }: Named): string | null {
  const all = { ...(Object.keys(limits).length > 0 ? { limits } : {}), ...setting };
  if (Object.keys(all).length === 0) return null;
  try {
    return checkSetting(JSON.stringify(all), type);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    report.notes.push(`${name}: its settings are not imported: ${error.message}`);
    return null;
  }
}

/** Returns the name that earlier versions gave the channel, by its content. */
function earlierName(channel: ImportedChannel): string {
  const parts = [channel.baseUrl, channel.key, channel.other, channel.weight, [...channel.models]];
  const limited = Object.keys(channel.limits).length > 0 ? [...parts, channel.limits] : parts;
  const place = JSON.stringify(channel.accessGroups.length > 0 ? [...limited, channel.accessGroups] : limited);
  return `litellm ${channel.provider} ${createHash("sha256").update(place).digest("hex").slice(0, 8)}`;
}

interface Decided {
  readonly name: string;
  readonly status: number;
  readonly setting: string | null;
}

async function storeChannel(
  { target, vault, clock, groups }: Target,
  channel: ImportedChannel,
  decided: Decided,
): Promise<void> {
  const renamed = [...channel.models].filter(([here, there]) => here !== there);
  const row = {
    ...decided,
    type: channel.type,
    key_sealed: "",
    key_hash: vault.hashKey(channel.key),
    openai_organization: "",
    test_model: "",
    weight: channel.weight,
    created_time: seconds(clock),
    base_url: channel.baseUrl,
    other: channel.other,
    models: [...channel.models.keys()].join(","),
    group: groups.all(["default", ...channel.accessGroups]).join(","),
    model_mapping: renamed.length > 0 ? JSON.stringify(Object.fromEntries(renamed)) : "",
    status_code_mapping: "",
    tag: null,
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
