import { object as readObject, text } from "../dialects/core/read.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError } from "../lib/app-error.ts";
import { isObjectId } from "../objects/ids.ts";
import { keepMembers } from "../objects/shapes/shape.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import type { Page } from "../objects/store.ts";

/** Returns the id and what the row keeps of an upstream's answer. Throws `upstream_invalid_response` without an id. */
export function readContainer(answer: JsonObject): { readonly id: string; readonly facts: JsonObject } {
  const id = text(answer, "id") ?? "";
  if (!isObjectId(id)) throw new AppError("upstream_invalid_response");
  return { id, facts: { container: keepMembers(answer, ["id"]) } };
}

/** Returns the container as its upstream showed it last. */
export function viewContainer({ id, createdAt, name, state, facts }: StoredObject): JsonObject {
  return {
    object: "container",
    created_at: createdAt,
    name,
    ...readObject(facts, "container"),
    id,
    ...(state !== "ready" && { status: "expired" }),
  };
}

export function viewList({ objects, hasMore }: Page): JsonObject {
  return {
    object: "list",
    data: objects.map(viewContainer),
    first_id: objects[0]?.id ?? null,
    last_id: objects.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
