import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { queryText } from "./envelope.ts";

/** Maximum number of hits of one kind. */
export const SEARCH_HITS = 5;

/** Hits for the command palette; kinds that the caller may not see stay empty. */
export const SearchHits = z.object({
  channels: z.array(z.object({ id: z.int(), name: z.string(), type: z.int(), status: z.int() })),
  tokens: z.array(z.object({ id: z.int(), name: z.string(), status: z.int() })),
  users: z.array(z.object({ id: z.int(), username: z.string(), display_name: z.string(), status: z.int() })),
  models: z.array(z.string()),
});
export type SearchHits = z.output<typeof SearchHits>;

export const searchAll = endpoint({
  name: "searchAll",
  method: "GET",
  path: "/api/search",
  access: "user",
  summary: "Finds channels and users (administrators), own tokens and models.",
  query: z.object({ q: queryText }),
  data: SearchHits,
});
