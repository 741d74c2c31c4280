import { isTagKey, MAX_REPORT_FIELDS } from "@fairway/wire";
import type { Reader } from "./reader.ts";

const OF_EVERYONE = ["model", "token", "group", "end_user"] as const;
const OF_TEAMS = ["actor"] as const;
const OF_OPERATORS = ["user", "team", "actor", "channel"] as const;
export type PlainField = (typeof OF_EVERYONE)[number] | (typeof OF_OPERATORS)[number];

/** A tag in the address, followed by its key. */
export const TAG = "tag:";

/** Returns the fields by which a reader may group; users see nothing of others, and only operators see channels. */
export function listFields({ of }: Pick<Reader, "of">): readonly PlainField[] {
  const more = { everyone: OF_OPERATORS, team: OF_TEAMS, self: [] } as const;
  return [...OF_EVERYONE, ...more[of]];
}

/** Returns the chosen fields of an address; a tag may still lack its key. */
export function readFields(text: string, reader: Pick<Reader, "of">): readonly string[] {
  const known: readonly string[] = listFields(reader);
  const chosen = text.split(",").filter((name) => name.startsWith(TAG) || known.includes(name));
  return [...new Set(chosen)].slice(0, MAX_REPORT_FIELDS);
}

/** Returns the fields that the gateway is asked for: tags whose key is complete. */
export function listAsked(fields: readonly string[]): readonly string[] {
  return fields.filter((name) => !name.startsWith(TAG) || isTagKey(name.slice(TAG.length)));
}

/** Replaces the field at a place, adds it behind the last one, or removes it with "". */
export function changeField(fields: readonly string[], at: number, name: string): string {
  const next = [...fields];
  next[at] = name;
  return [...new Set(next.filter((one) => one !== ""))].join(",");
}
