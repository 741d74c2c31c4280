import { END_USER_KEY, MAX_TAG_LIMIT_VALUES, normalizeEndUser, type TagLimits } from "@fairway/wire";
import { nameEndUser } from "../../../../relay/tags/end-user.ts";
import type { ForeignDatabase } from "../../../../storage/foreign.ts";
import type { ImportReport } from "../../report.ts";

const END_USERS = "LiteLLM_EndUserTable";

/**
 * Returns the limits that refuse the end users whom the source blocks; {} without any. There they are blocked for the
 * whole installation, so each account and team that is imported gets the list.
 */
export async function readBlockedEndUsers(source: ForeignDatabase, report: ImportReport): Promise<TagLimits> {
  const blocked = new Map<string, { blocked: true }>();
  if (!(await source.has(END_USERS))) return {};
  for await (const rows of source.pages(END_USERS, "user_id")) {
    for (const row of rows) {
      if (!row.flag("blocked")) continue;
      const name = normalizeEndUser(nameEndUser(row.text("user_id").trim()));
      if (name === undefined) report.remark("end users are blocked under names that no call can have", row.label);
      else if (blocked.size < MAX_TAG_LIMIT_VALUES) blocked.set(name, { blocked: true });
      else report.remark(`more than ${MAX_TAG_LIMIT_VALUES} end users are blocked: these are not`, name);
    }
  }
  if (blocked.size === 0) return {};
  report.notes.push(`${blocked.size} end users are blocked for each account and team that is imported (tag_limits)`);
  return { [END_USER_KEY]: Object.fromEntries(blocked) };
}
