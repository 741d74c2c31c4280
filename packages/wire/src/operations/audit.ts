import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";

/** One write through the management API. */
export const AuditRow = z.object({
  id: z.int(),
  user_id: z.int(),
  username: z.string(),
  /** Name of the call, as in the endpoint table. */
  action: z.string(),
  /** What it concerned, such as `channel 7`; "" when the call names nothing single. */
  target: z.string(),
  /** JSON text of what was there before, secrets left out; null when nothing was, or nothing was named. */
  old_value: z.nullable(z.string()),
  /**
   * JSON text of what was there afterwards, or else of what the call sent. Its only member `unfinished` holds what was
   * sent when the call is still under way, or its end is unknown.
   */
  new_value: z.nullable(z.string()),
  ip: z.string(),
  created_at: z.int(),
});
export type AuditRow = z.output<typeof AuditRow>;

export const auditList = endpoint({
  name: "auditList",
  method: "GET",
  path: "/api/audit",
  access: "root",
  summary: "Who changed what and from where, the latest first.",
  query: z.object({
    ...pageFields,
    user_id: queryInt,
    username: queryText,
    action: queryText,
    target: queryText,
    start_timestamp: queryInt,
    end_timestamp: queryInt,
  }),
  data: z.array(AuditRow),
});
