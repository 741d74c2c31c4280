import { renamed } from "../../../dialects/core/json-edit.ts";
import type { RequestTransform } from "../types.ts";

/** For servers that know the output limit only as `max_tokens` and ignore the newer name. */
export const olderLimitName: RequestTransform = {
  name: "max_completion_tokens as max_tokens",
  apply: (body) => renamed(body, "max_completion_tokens", "max_tokens"),
};
