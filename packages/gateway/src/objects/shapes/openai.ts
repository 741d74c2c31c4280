import { number, object as readObject, text } from "../../dialects/core/read.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { readCount } from "./page-token.ts";
import { keepMembers, type FileShape } from "./shape.ts";

const MAX_PAGE = 10_000;

/** Files of OpenAI's protocol. */
export const openaiFiles: FileShape = {
  dialect: "openai",
  showFile(object) {
    const known = readObject(object.facts, "file") ?? {};
    return {
      ...known,
      id: object.id,
      object: "file",
      bytes: object.bytes,
      created_at: number(known, "created_at") ?? object.createdAt,
      filename: object.name,
      purpose: object.purpose,
      ...(object.expiresAt > 0 && { expires_at: object.expiresAt }),
      status: object.state === "ready" ? (text(known, "status") ?? "processed") : "error",
    };
  },
  showDeleted: ({ id }) => ({ id, object: "file", deleted: true }),
  readList(query) {
    const order = query.get("order") ?? "desc";
    if (order !== "asc" && order !== "desc") throw invalidRequest("order", "order must be asc or desc.");
    return {
      isAscending: order === "asc",
      limit: readCount(query.get("limit"), "limit", { max: MAX_PAGE, fallback: MAX_PAGE }),
      purpose: query.get("purpose") ?? undefined,
      afterId: query.get("after") ?? undefined,
    };
  },
  showList: ({ objects, hasMore }) => ({
    object: "list",
    data: objects.map((object) => openaiFiles.showFile(object)),
    first_id: objects[0]?.id ?? null,
    last_id: objects.at(-1)?.id ?? null,
    has_more: hasMore,
  }),
  readUpload(answer) {
    const upstreamId = text(answer, "id");
    if (upstreamId === undefined || upstreamId === "") throw new AppError("upstream_invalid_response");
    return {
      upstreamId,
      name: text(answer, "filename"),
      mime: undefined,
      expiresAt: number(answer, "expires_at") ?? 0,
      facts: { file: keepMembers(answer, ["id"]) },
    };
  },
};
