import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../../dialects/core/types.ts";
import { TASK_MEMBERS } from "../../dialects/members.ts";
import { parseObject } from "../../lib/text/json.ts";
import { readBoundary, checkParts, readFields } from "./form-fields.ts";
import { FormScanner } from "./form-scanner.ts";
import { checkMembers, compile } from "./member-names.ts";
import { readBytes, readJson, type BodyLimits } from "./read-body.ts";

const TASK_NAMES = compile(TASK_MEMBERS);

/** Reads and checks the JSON of a drawing, song or video; values other than objects pass. Rejects with AppError. */
export async function readTaskJson(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { bytes, members } = await readJson(request, limits);
  const json = parseObject(bytes.toString("utf8"));
  if (json) checkMembers({ json, bytes, members }, TASK_NAMES);
  return bytes;
}

/** Reads the form of a video into memory; its pictures become data URLs. Rejects with AppError. */
export async function readTaskForm(request: IncomingMessage, limits: BodyLimits): Promise<JsonObject> {
  const scanner = new FormScanner(readBoundary(request), { maxFileBytes: limits.maxBytes });
  const bytes = await readBytes(request, limits);
  scanner.write(bytes);
  scanner.end();
  checkParts(scanner.parts, TASK_NAMES);
  const fields = readFields(scanner.parts.filter(({ filename }) => filename === undefined));
  for (const { name, filename, type, start, end } of scanner.parts) {
    if (filename !== undefined)
      fields[name] = `data:${type || "image/png"};base64,${bytes.toString("base64", start, end)}`;
  }
  return fields;
}
