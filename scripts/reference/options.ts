import { isHiddenOption, OPTIONS, type OptionDefinition } from "../../packages/wire/src/index.ts";
import { code, groupBy, page, table } from "./markdown.ts";

const MAX_DEFAULT_CHARS = 80;

export function options(): string {
  const all = Object.entries(OPTIONS) as [string, OptionDefinition][];
  const groups = groupBy(all, ([, definition]) => definition.group);
  return page(
    "Options",
    "packages/wire/src/options/option-table.ts",
    "Changed at run time: with `fairway option set`, or by `PUT /api/option/`. Values are text; every process applies a change within seconds. Secret options are never sent back.",
    ...groups.map(
      ([group, members]) => `## ${group}\n\n${table(["Option", "What it does", "Kind", "Default"], members.map(row))}`,
    ),
  );
}

function row([key, { about, type, fallback }]: [string, OptionDefinition]): string[] {
  const short = fallback.length > MAX_DEFAULT_CHARS ? `${fallback.slice(0, MAX_DEFAULT_CHARS)}…` : fallback;
  return [
    code(key),
    about,
    isHiddenOption(key) ? `${type.kind}, secret` : type.kind,
    code(short.replaceAll("\n", " ⏎ ")),
  ];
}
