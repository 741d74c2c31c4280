import { object as readObject, text } from "../../dialects/core/read.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { readCount, readPageToken, writePageToken } from "./page-token.ts";
import { keepMembers, type FileShape } from "./shape.ts";

const MAX_PAGE = 1_000;
const USUAL_PAGE = 20;
const MAX_IDS = 100;

/** Files of Anthropic's protocol. Lists answer newer clients, which page by `page`, and older ones, which page by ids. */
export const anthropicFiles: FileShape = {
  dialect: "anthropic",
  showFile(object) {
    const known = readObject(object.facts, "file") ?? {};
    return {
      downloadable: false,
      ...known,
      id: object.id,
      type: "file",
      filename: object.name,
      mime_type: object.mime,
      size_bytes: object.bytes,
      created_at: text(known, "created_at") ?? formatTime(object.createdAt),
      expires_at: text(known, "expires_at") ?? (object.expiresAt > 0 ? formatTime(object.expiresAt) : null),
    };
  },
  showDeleted: ({ id }) => ({ id, type: "file_deleted" }),
  readList(query) {
    const ids = [...query.getAll("ids[]"), ...query.getAll("ids")];
    const [page, after, before] = [query.get("page"), query.get("after_id"), query.get("before_id")];
    const named = [page, after, before, ids.length > 0 ? "" : null].filter((value) => value !== null);
    if (named.length > 1) throw invalidRequest("page", "Send one of page, after_id, before_id and ids.");
    if (ids.length > MAX_IDS) throw invalidRequest("ids", `ids may hold up to ${MAX_IDS} ids.`);
    return {
      isAscending: before !== null,
      isReversed: before !== null,
      limit: readCount(query.get("limit"), "limit", { max: MAX_PAGE, fallback: USUAL_PAGE }),
      afterId: after ?? before ?? undefined,
      after: page === null ? undefined : readPageToken(page, "page"),
      ...(ids.length > 0 && { ids }),
    };
  },
  showList({ objects, hasMore }) {
    const last = objects.at(-1);
    return {
      data: objects.map((object) => anthropicFiles.showFile(object)),
      next_page: hasMore && last ? writePageToken(last) : null,
      has_more: hasMore,
      first_id: objects[0]?.id ?? null,
      last_id: last?.id ?? null,
    };
  },
  readUpload(answer) {
    const upstreamId = text(answer, "id");
    if (upstreamId === undefined || upstreamId === "") throw new AppError("upstream_invalid_response");
    return {
      upstreamId,
      name: text(answer, "filename"),
      mime: text(answer, "mime_type"),
      expiresAt: parseTime(text(answer, "expires_at")),
      facts: { file: keepMembers(answer, ["id"]) },
    };
  },
};

function formatTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace(".000Z", "Z");
}

/** Returns epoch seconds; 0 for a time that cannot be read. */
export function parseTime(text: string | undefined): number {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isFinite(ms) ? Math.floor(ms / 1_000) : 0;
}
