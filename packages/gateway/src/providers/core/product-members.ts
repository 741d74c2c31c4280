import { invalidRequest } from "../../lib/app-error.ts";
import { isObject, isSet } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import type { ProviderAdapter } from "./types.ts";

/**
 * Members by which a request chooses another model, host or key than the channel's. Any base URL can be that of a
 * router, so they are refused on every channel; an operator can set them in `param_override`.
 */
const ROUTING = [
  "models",
  "fallbacks",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "route",
  "preset",
  "provider",
  "api_key",
  "api_base",
  "base_url",
  "custom_llm_provider",
  "user_config",
] as const;

/** Limits that servers read from `extra_body` as if they were top-level members. */
const LIMITS = ["model", "n", "best_of", "max_tokens", "max_completion_tokens", "max_output_tokens"] as const;

/** Throws if a member makes the upstream serve something other than what is priced. */
export function checkProduct(body: JsonObject, { productMembers = [] }: ProviderAdapter): void {
  refuse(body, ROUTING, "");
  refuse(body, productMembers, "");
  const { extra_body: extra } = body;
  if (!isObject(extra)) return;
  refuse(extra, ROUTING, "extra_body.");
  refuse(extra, productMembers, "extra_body.");
  refuse(extra, LIMITS, "extra_body.");
}

function refuse(body: JsonObject, names: readonly string[], parent: string): void {
  for (const name of names) {
    if (!isSet(body[name])) continue;
    const path = parent + name;
    throw invalidRequest(
      path,
      `${path} would change the model or its price at the upstream, so clients may not send it; the operator can set it for a channel.`,
    );
  }
}
