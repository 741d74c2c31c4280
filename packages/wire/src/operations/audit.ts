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
  /** The resource that the call changed, such as `channel 7`; "" if it is not a single one. */
  target: z.string(),
  /** JSON text of the values before the call, without secrets; null if there were none, or no single resource. */
  old_value: z.nullable(z.string()),
  /**
   * JSON text of the values after the call, or else of what the call sent. If the only member is `unfinished`, it
   * contains the input of a call that is still running or whose result is unknown.
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
