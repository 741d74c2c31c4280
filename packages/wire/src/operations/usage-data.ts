import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";

/** Maximum period of `usageSelf`, in seconds. */
export const USAGE_SPAN_CAP = 2_592_000;

/** Usage of one model in one hour; id 0 and username "" if the users are summed. */
export const UsageRow = z.object({
  id: z.int(),
  user_id: z.int(),
  username: z.string(),
  model_name: z.string(),
  /** Start of the hour. */
  created_at: z.int(),
  token_used: z.int(),
  count: z.int(),
  quota: z.int(),
});
export type UsageRow = z.output<typeof UsageRow>;

const span = { start_timestamp: queryInt, end_timestamp: queryInt };

export const usageAll = endpoint({
  name: "usageAll",
  method: "GET",
  path: "/api/data/",
  access: "admin",
  summary: "Usage by hour and model, of everybody or of one user.",
  query: z.object({ ...span, username: queryText }),
  data: z.array(UsageRow),
});

export const usageSelf = endpoint({
  name: "usageSelf",
  method: "GET",
  path: "/api/data/self",
  access: "user",
  summary: "The caller's usage by hour and model, over at most 30 days.",
  query: z.object(span),
  data: z.array(UsageRow),
  fails: ["log_span_too_long"],
});
