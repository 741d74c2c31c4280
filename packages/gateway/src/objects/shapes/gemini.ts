import { object as readObject, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { parseTime } from "./anthropic.ts";
import { readCount, readPageToken, writePageToken } from "./page-token.ts";
import { keepMembers, type FileShape } from "./shape.ts";

const MAX_PAGE = 100;
const USUAL_PAGE = 10;
const NAME = /^files\/([\w-]{1,128})$/;

/** Returns the name that a client gives its file, in either way of writing. */
export function readDisplayName(file: JsonObject): string {
  return text(file, "displayName") ?? text(file, "display_name") ?? "";
}

/** Files of Google's protocol. */
export const geminiFiles: FileShape = {
  dialect: "gemini",
  showFile(object, baseUrl) {
    const known = readObject(object.facts, "file") ?? {};
    return {
      sizeBytes: String(object.bytes),
      mimeType: object.mime,
      ...known,
      name: `files/${object.id}`,
      uri: baseUrl === undefined ? `files/${object.id}` : `${baseUrl}/v1beta/files/${object.id}`,
      state: object.state === "ready" ? (text(known, "state") ?? "ACTIVE") : "FAILED",
    };
  },
  showDeleted: () => ({}),
  readList(query) {
    const token = query.get("pageToken");
    return {
      isAscending: false,
      limit: readCount(query.get("pageSize"), "pageSize", { max: MAX_PAGE, fallback: USUAL_PAGE }),
      after: token === null || token === "" ? undefined : readPageToken(token, "pageToken"),
    };
  },
  showList({ objects, hasMore }, baseUrl) {
    const last = objects.at(-1);
    return {
      ...(objects.length > 0 && { files: objects.map((object) => geminiFiles.showFile(object, baseUrl)) }),
      ...(hasMore && last && { nextPageToken: writePageToken(last) }),
    };
  },
  readUpload(answer) {
    const file: JsonObject = readObject(answer, "file") ?? answer;
    const upstreamId = NAME.exec(text(file, "name") ?? "")?.[1];
    if (upstreamId === undefined) throw new AppError("upstream_invalid_response");
    return {
      upstreamId,
      name: text(file, "displayName"),
      mime: text(file, "mimeType"),
      expiresAt: parseTime(text(file, "expirationTime")),
      facts: { uri: text(file, "uri") ?? "", file: keepMembers(file, ["name", "uri", "downloadUri"]) },
    };
  },
};
