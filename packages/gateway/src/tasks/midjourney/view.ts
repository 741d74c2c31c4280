import type { Selectable } from "kysely";
import { text } from "../../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { MidjourneyTable } from "../../storage/tables/schema.ts";
import type { TaskDeps } from "../types.ts";

export type DrawingRow = Selectable<MidjourneyTable>;

/** Signs the address of an image. */
export type Sign = (text: string) => string;

/** The dependencies of a task's view. */
type ViewDeps = Pick<TaskDeps, "snapshots" | "sign" | "publicUrl">;

/** Returns a task as the protocol shows it. */
export function drawingView(row: DrawingRow, deps: ViewDeps): JsonObject {
  const properties = parseObject(row.properties) ?? {};
  return {
    id: row.mj_id,
    action: row.action,
    customId: "",
    botType: "",
    prompt: row.prompt,
    promptEn: row.prompt_en,
    description: row.description,
    state: row.state,
    submitTime: row.submit_time,
    startTime: row.start_time,
    finishTime: row.finish_time,
    imageUrl: imageUrl(row, deps),
    status: row.status,
    progress: row.progress,
    failReason: row.fail_reason,
    buttons: parseList(row.buttons),
    maskBase64: "",
    properties: {
      finalPrompt: text(properties, "finalPrompt") ?? "",
      finalZhPrompt: text(properties, "finalZhPrompt") ?? "",
    },
  };
}

function imageUrl(row: DrawingRow, { snapshots, sign, publicUrl }: ViewDeps): string {
  if (row.image_url === "" || !snapshots.current().options.MjForwardUrlEnabled) return row.image_url;
  const url = ownImageUrl(publicUrl(), row.mj_id, sign);
  // Viewers cache images, but a picture that is still being drawn changes.
  return row.status === "SUCCESS" ? url : `${url}&rand=${Math.round(performance.now() * 1e6)}`;
}

/** Returns an address of the gateway itself that carries the right to read it. */
export function ownImageUrl(address: string, id: string, sign: Sign): string {
  return `${address}/mj/image/${encodeURIComponent(id)}?s=${imageSignature(id, sign)}`;
}

export function imageSignature(id: string, sign: Sign): string {
  return sign(`mj-image ${id}`).slice(0, 32);
}

function parseList(json: string): JsonValue[] {
  if (json === "") return [];
  try {
    const value = JSON.parse(json) as JsonValue;
    return Array.isArray(value) ? [...value] : [];
  } catch {
    return [];
  }
}
