import { findFallbacks, type FallbackEntry } from "@fairway/wire";
import { isSet } from "../../dialects/core/read.ts";
import type { Operation } from "../../dialects/core/types.ts";
import { invalidRequest } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { RelayRequest } from "../request/request.ts";
import { checkName, MAX_ASKED } from "./asked-models.ts";
import { FallbackList } from "./fallback-list.ts";

/** Header by which a client names models to fall back to, or switches fallbacks off. */
export const FALLBACK_HEADER = "x-fairway-fallback";

/** Vectors, sounds and pictures of two models cannot stand for each other. */
const OPERATIONS: ReadonlySet<Operation> = new Set(["chat", "completions", "responses"]);

/** Members that bind a request to the account that stores what they name. */
const BINDING = ["previous_response_id", "conversation", "cachedContent", "cached_content", "container", "thread"];

const NO_ENTRIES: readonly FallbackEntry[] = [];

/**
 * Returns the models that may serve the request if its own does not: the client's list, the one of its token, of its
 * group, or of all. Undefined if there are none, which costs a request of a gateway without lists next to nothing.
 */
export function chooseFallbacks(request: RelayRequest, snapshot: Snapshot): FallbackList | undefined {
  const { caller, clientHeaders, askedModels } = request;
  const header = clientHeaders?.[FALLBACK_HEADER];
  if (!snapshot.fallbacks && !caller.fallbacks && header === undefined && !askedModels) return undefined;
  if (isBound(request)) return undefined;
  const own = snapshot.options.ClientFallbacks ? readAsked(header, askedModels) : undefined;
  const chosen = caller.fallbacks === "off" ? NO_ENTRIES : (own ?? findConfigured(request, snapshot));
  const entries = chosen.filter(({ model }) => model !== request.spec.model);
  return entries.length === 0 ? undefined : new FallbackList(entries, caller, snapshot);
}

/** True if only one account can serve the request, or only one channel may. */
function isBound({ spec, caller, pinnedAccount, asked, ownIds, sharedIds, body }: RelayRequest): boolean {
  if (!OPERATIONS.has(spec.operation) || caller.pinnedChannel !== undefined || pinnedAccount) return true;
  if (asked?.previous !== undefined || sharedIds || (ownIds?.size ?? 0) > 0) return true;
  const json = body.json();
  return BINDING.some((member) => isSet(json[member]));
}

/** Undefined if the client leaves it to the operator; empty if it wants no other model. */
function readAsked(
  header: string | readonly string[] | undefined,
  inBody: readonly string[] | undefined,
): readonly FallbackEntry[] | undefined {
  const text = typeof header === "string" ? header.trim() : "";
  if (text.toLowerCase() === "off") return NO_ENTRIES;
  if (text === "") return inBody?.map(toEntry);
  if (inBody) throw invalidRequest(FALLBACK_HEADER, "Send one list of models: in the body or in X-Fairway-Fallback.");
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  if (names.length > MAX_ASKED)
    throw invalidRequest(FALLBACK_HEADER, `X-Fairway-Fallback names more than ${MAX_ASKED} models; name fewer.`);
  for (const name of names) checkName(name, "X-Fairway-Fallback");
  return names.map(toEntry);
}

function toEntry(model: string): FallbackEntry {
  return { model, on: ["error", "context", "content"] };
}

function findConfigured({ caller, spec }: RelayRequest, { fallbacks }: Snapshot): readonly FallbackEntry[] {
  if (caller.fallbacks && caller.fallbacks !== "off") return caller.fallbacks;
  if (!fallbacks) return NO_ENTRIES;
  const ofGroup = fallbacks.groups[caller.group];
  return (ofGroup && findFallbacks(ofGroup, spec.model)) ?? findFallbacks(fallbacks.all, spec.model) ?? NO_ENTRIES;
}
