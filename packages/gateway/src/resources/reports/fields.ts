import { ACCOUNT_KIND, isTagKey, parseTags, REPORT_FIELDS, type ReportField } from "@fairway/wire";

/** Columns of the log that each field is read from. */
const SOURCES: Readonly<Record<Exclude<ReportField, `tag:${string}`>, readonly SourceColumn[]>> = {
  user: ["user_id", "username"],
  team: ["user_id", "username", "account_kind"],
  actor: ["actor"],
  token: ["token_id", "token_name"],
  model: ["model_name"],
  group: ["group"],
  channel: ["channel_id"],
  end_user: ["end_user"],
};

export type SourceColumn =
  | "user_id"
  | "username"
  | "account_kind"
  | "actor"
  | "token_id"
  | "token_name"
  | "model_name"
  | "group"
  | "channel_id"
  | "end_user"
  | "tags";

export type GroupRow = Readonly<Partial<Record<SourceColumn, string | number>>>;

const TAG = "tag:";

export function isReportField(name: string): name is ReportField {
  return name.startsWith(TAG) ? isTagKey(name.slice(TAG.length)) : (REPORT_FIELDS as readonly string[]).includes(name);
}

/** Returns the columns by which the database groups. */
export function listSources(by: readonly ReportField[]): SourceColumn[] {
  return [...new Set(by.flatMap((field): readonly SourceColumn[] => (isTag(field) ? ["tags"] : SOURCES[field])))];
}

/** Returns the names of the columns of a field in rows and files: an id goes with its name. */
export function listColumns(field: ReportField): string[] {
  return hasId(field) ? [`${field}_id`, field] : [field];
}

/** Returns the values of the columns of a field. */
export function readValues(field: ReportField, row: GroupRow): (string | number)[] {
  if (isTag(field)) return [parseTags(readText(row.tags)).get(field.slice(TAG.length)) ?? ""];
  if (field === "team" && Number(row.account_kind) !== ACCOUNT_KIND.wallet) return [0, ""];
  const [first, second] = SOURCES[field];
  if (!hasId(field)) return [readText(first && row[first])];
  return [Number((first && row[first]) ?? 0), readText(second && row[second])];
}

function readText(value: string | number | undefined): string {
  return value === undefined ? "" : String(value);
}

export function hasId(field: ReportField): boolean {
  return field === "user" || field === "team" || field === "token" || field === "channel";
}

function isTag(field: ReportField): field is `tag:${string}` {
  return field.startsWith(TAG);
}
