import { list, text } from "../../dialects/core/read.ts";
import { isObject, parseObject } from "../../lib/text/json.ts";
import type { TaskIdSource } from "../own-ids.ts";
import type { TaskDeps } from "../types.ts";
import { DrawingError } from "./actions.ts";
import { findNamedDrawings } from "./store.ts";
import type { DrawingRow } from "./view.ts";

/** The operator's option governs the filter, and only the gateway reads the hook. */
const SKIPPED: ReadonlySet<string> = new Set(["accountFilter", "notifyHook"]);
/** Parts of a button's id that every drawing has. */
const COUNT_OR_KIND = /^(?:\d{1,3}|SOLO)$/i;

/** Drawings, and the jobs behind their buttons, that a request may continue. */
export function drawingIds(deps: Pick<TaskDeps, "database">): TaskIdSource {
  return {
    rules: { skipped: SKIPPED, within: (member, value) => (isButton(member) ? listJobs(value) : [value]) },
    find: async (userId, ids) => {
      const rows = await findNamedDrawings(deps, userId, ids);
      const found = rows.flatMap((row) => idsIn(row).map((id) => [id, row.channel_id] as const));
      return new Map(found.filter(([id]) => ids.includes(id)));
    },
    unknown: ({ member }) => new DrawingError(isButton(member) ? "custom_id_not_found" : "task_not_found"),
  };
}

function isButton(member: string): boolean {
  return member.toLowerCase().replaceAll(/[_-]/g, "") === "customid";
}

/** Returns the jobs that a button names: `MJ::JOB::upsample::2::<job>`, `MJ::Inpaint::1::<job>::SOLO`. */
function listJobs(customId: string): string[] {
  const parts = customId.split("::");
  const [, kind = ""] = parts;
  return parts.slice(kind.toUpperCase() === "JOB" ? 3 : 2).filter((part) => part !== "" && !COUNT_OR_KIND.test(part));
}

function idsIn({ mj_id, buttons }: DrawingRow): string[] {
  const shown = list(parseObject(`{"buttons":${buttons || "[]"}}`), "buttons").filter(isObject);
  return [mj_id, ...shown.flatMap((button) => listJobs(text(button, "customId") ?? ""))];
}
