import type { JsonObject } from "../../../dialects/core/types.ts";
import { eachObject } from "../../../dialects/core/json-edit.ts";
import type { RequestTransform } from "../types.ts";

/** Renames the role `developer` to `system`, for servers that refuse the whole request for any other role. */
export function developerToSystem(body: JsonObject): JsonObject {
  return eachObject(body, "messages", (message) =>
    message["role"] === "developer" ? { ...message, role: "system" } : message,
  );
}

export const noDeveloperRole: RequestTransform = { name: "developer messages as system", apply: developerToSystem };
