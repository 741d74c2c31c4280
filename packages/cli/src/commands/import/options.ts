import { checkOption, isOptionKey, optionList, optionUpdate, parseOptions } from "@fairway/wire";
import { listIn, objectIn } from "../../core/json.ts";
import { attempt, type Carry } from "./carry.ts";

/** Options that are tables by group, or lists of groups. */
const OF_GROUPS: readonly string[] = ["GroupRatio", "TopupGroupRatio", "UserUsableGroups", "AutoGroups"];

/**
 * Imports options that this gateway knows and whose values pass its checks, and reports the others. The other gateway
 * does not show secrets.
 */
export async function carryOptions(carry: Carry): Promise<void> {
  const { source, target, report, isDry } = carry;
  const { data: rows } = await source.call(optionList, {});
  const { data: own } = await target.call(optionList, {});
  const stored = new Map(own.map(({ key, value }) => [key, value]));
  const wanted = rows.map(({ key, value }) => ({ key, value: withGroups(carry, key, value) }));
  const after = parseOptions([...own, ...wanted]);
  for (const { key, value } of wanted) {
    if (!isOptionKey(key)) {
      report.count("options", "skipped");
      report.about("options that this gateway does not have", key);
      continue;
    }
    const check = checkOption(key, value, after);
    if (!check.isValid) {
      report.count("options", "skipped");
      report.about("options with a value that cannot be used", key);
    } else if (stored.get(key) === check.text) report.count("options", "unchanged");
    else
      await attempt(carry, { what: "options", name: `the option ${key}`, outcome: "updated" }, async () => {
        if (!isDry) await target.call(optionUpdate, { body: { key, value: check.text } });
        carry.options.set(key, check.text);
      });
  }
  report.note("secrets among the options are not shown by its calls: set them with `fairway option set KEY -`");
}

function withGroups({ resolveGroup }: Carry, key: string, value: string): string {
  if (!OF_GROUPS.includes(key)) return value;
  const table = objectIn(value);
  if (table)
    return JSON.stringify(Object.fromEntries(Object.entries(table).map(([group, one]) => [resolveGroup(group), one])));
  const list = listIn(value);
  return list ? JSON.stringify([...new Set(list.map((group) => resolveGroup(String(group))))]) : value;
}
