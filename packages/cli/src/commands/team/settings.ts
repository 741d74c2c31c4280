import type { TeamSettingsInput } from "@fairway/wire";
import { Option, type Command } from "commander";
import { count, list, positive } from "../../core/arguments.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { readTagLimits, TAG_LIMITS_ABOUT, TAG_LIMITS_FLAG } from "../../core/tag-limits.ts";

/** Flags of a team that `create` and `update` share. */
export interface TeamTerms {
  readonly description?: string;
  readonly label?: readonly string[];
  readonly groups?: readonly string[];
  readonly models?: readonly string[];
  readonly channels?: readonly number[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
  readonly memberRpm?: number;
  readonly memberTpm?: number;
  readonly memberConcurrency?: number;
  readonly tagLimits?: string;
  readonly whoMakesKeys?: "members" | "admins";
  readonly keysVisible?: "maker" | "admins";
  readonly onLeave?: "disable" | "transfer";
  readonly maxKeys?: number;
  readonly maxKeyDays?: number;
}

export function withSettings(command: Command): Command {
  return command
    .option("--description <text>")
    .option("--label <pair...>", "labels such as cost_centre=4711; they replace the earlier ones")
    .option("--groups <list>", "groups that its keys may use, the first one by default", list)
    .option("--models <list>", "models, or beginnings such as gpt-*; all when empty", list)
    .option("--channels <list>", "ids of channels; all when empty", parseIds)
    .option("--rpm <count>", "requests of the whole team per minute; 0 = no limit of its own", count)
    .option("--tpm <count>", "tokens of the whole team per minute; 0 = no limit of its own", count)
    .option("--concurrency <count>", "requests of the whole team at once; 0 = no limit of its own", count)
    .option("--member-rpm <count>", "requests of one member per minute, over all keys", count)
    .option("--member-tpm <count>", "tokens of one member per minute, over all keys", count)
    .option("--member-concurrency <count>", "requests of one member at once, over all keys", count)
    .option(TAG_LIMITS_FLAG, TAG_LIMITS_ABOUT)
    .addOption(new Option("--who-makes-keys <word>").choices(["members", "admins"]))
    .addOption(new Option("--keys-visible <word>", "who reads a key in full").choices(["maker", "admins"]))
    .addOption(new Option("--on-leave <word>", "what becomes of the keys of a member").choices(["disable", "transfer"]))
    .option("--max-keys <count>", "keys that one member may have", count)
    .option("--max-key-days <count>", "days that a new key works at most; 0 = no limit", count);
}

function parseIds(text: string): number[] {
  return list(text).map(positive);
}

const LIMITS = ["rpm", "tpm", "concurrency"] as const;
type Limits = Readonly<Partial<Record<(typeof LIMITS)[number], number>>>;

/** Returns the settings that the flags name; limits are written whole, so those that no flag names stay. */
export function readSettings(
  terms: TeamTerms,
  before: Pick<TeamSettingsInput, "limits" | "member_limits">,
): TeamSettingsInput {
  const { groups, models, channels, tagLimits, whoMakesKeys, keysVisible, onLeave, maxKeys, maxKeyDays } = terms;
  const team = mergeLimits(before.limits, terms);
  const { memberRpm: rpm, memberTpm: tpm, memberConcurrency: concurrency } = terms;
  const member = mergeLimits(before.member_limits, { rpm, tpm, concurrency });
  return {
    ...(groups && { groups: [...groups] }),
    ...(models && { models: [...models] }),
    ...(channels && { channels: [...channels] }),
    ...(team && { limits: team }),
    ...(member && { member_limits: member }),
    ...(tagLimits !== undefined && { tag_limits: readTagLimits(tagLimits) }),
    ...(whoMakesKeys && { who_makes_keys: whoMakesKeys }),
    ...(keysVisible && { keys_visible: keysVisible }),
    ...(onLeave && { on_leave: onLeave }),
    ...(maxKeys !== undefined && { max_keys_per_member: maxKeys }),
    ...(maxKeyDays !== undefined && { max_key_days: maxKeyDays }),
  };
}

/** Undefined if no flag names a limit. */
function mergeLimits(before: unknown, flags: Readonly<Partial<Record<(typeof LIMITS)[number], number | undefined>>>) {
  if (LIMITS.every((name) => flags[name] === undefined)) return undefined;
  const merged: Record<string, number> = { ...(before as Limits | undefined) };
  for (const name of LIMITS) {
    const value = flags[name];
    if (value === 0) delete merged[name];
    else if (value !== undefined) merged[name] = value;
  }
  return merged;
}

export function readLabels(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs
      .filter((pair) => pair !== "")
      .map((pair) => {
        const [, name, value] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
        if (name !== undefined && value !== undefined) return [name, value];
        throw new CliError(`--label ${pair} is no label`, EXIT.usage, "write it like cost_centre=4711");
      }),
  );
}
