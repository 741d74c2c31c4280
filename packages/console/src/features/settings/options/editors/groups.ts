import type { FieldRow } from "../../../../ui/form/rows/rows-field.tsx";
import type { Draft } from "../draft.ts";
import { labelRows, labelText, ratioRows, ratioText } from "./rows.ts";

/** The options that define the groups and their prices. */
export const GROUP_OPTIONS = ["GroupRatio", "UserUsableGroups", "TopupGroupRatio"] as const;
type GroupOption = (typeof GROUP_OPTIONS)[number];
export type GroupTexts = Readonly<Record<GroupOption, string>>;

/** Returns one row for each group that any of the options names; undefined if one of them is not a table. */
export function groupRows(texts: GroupTexts): FieldRow[] | undefined {
  const ratios = ratioRows("GroupRatio", texts.GroupRatio);
  const labels = labelRows(texts.UserUsableGroups);
  const topups = ratioRows("TopupGroupRatio", texts.TopupGroupRatio);
  if (!ratios || !labels || !topups) return undefined;
  const names = [...new Set([...ratios, ...labels, ...topups].map(({ name = "" }) => name))];
  const find = (rows: readonly FieldRow[], name: string) => rows.find((row) => row["name"] === name);
  return names.map((name) => {
    const label = find(labels, name);
    return {
      name,
      ratio: find(ratios, name)?.["value"] ?? "",
      usable: label ? "true" : "",
      label: label?.["label"] ?? "",
      topup: find(topups, name)?.["value"] ?? "",
    };
  });
}

export function groupTexts(rows: readonly FieldRow[]): GroupTexts {
  const withValue = (id: string) =>
    rows.filter((row) => row[id]?.trim()).map((row) => ({ name: row["name"] ?? "", value: row[id] ?? "" }));
  const usable = rows.filter((row) => row["usable"] === "true");
  return {
    GroupRatio: ratioText(withValue("ratio")),
    UserUsableGroups: labelText(
      usable.map(({ name = "", label = "" }) => ({ name, label: label.trim() === "" ? name : label })),
    ),
    TopupGroupRatio: ratioText(withValue("topup")),
  };
}

export function readGroupTexts(draft: Draft, stored: Readonly<Partial<Record<string, string>>>): GroupTexts {
  const text = (key: GroupOption) => draft[key] ?? stored[key] ?? "{}";
  return {
    GroupRatio: text("GroupRatio"),
    UserUsableGroups: text("UserUsableGroups"),
    TopupGroupRatio: text("TopupGroupRatio"),
  };
}
