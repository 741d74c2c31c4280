import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryText, statusOnly } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";
import { queryInts } from "../core/lists.ts";

export const REDEMPTION_BATCH_CAP = 100;

/** A redemption code; `key` is the code itself. */
export const Redemption = z.object({
  id: z.int(),
  /** Id of the user who created the code. */
  user_id: z.int(),
  key: z.string(),
  status: z.int(),
  name: z.string(),
  quota: z.int(),
  created_time: z.int(),
  redeemed_time: z.int(),
  /** Always 0 in responses; sets the number of codes on creation. */
  count: z.literal(0),
  /** 0 = no user. */
  used_user_id: z.int(),
  DeletedAt: z.nullable(z.string()),
});
export type Redemption = z.output<typeof Redemption>;

const listQuery = z.object({ ...pageFields, keyword: queryText, status: queryInts });

export const redemptionList = endpoint({
  name: "redemptionList",
  method: "GET",
  path: "/api/redemption/",
  access: "admin",
  summary: "Lists redemption codes, newest first.",
  query: listQuery,
  data: z.array(Redemption),
});

export const redemptionSearch = endpoint({
  name: "redemptionSearch",
  method: "GET",
  path: "/api/redemption/search",
  access: "admin",
  summary: "Finds redemption codes by id and by the start of their name; paged only when asked for.",
  query: listQuery,
  data: z.array(Redemption),
});

export const redemptionGet = endpoint({
  name: "redemptionGet",
  method: "GET",
  path: "/api/redemption/{id}",
  access: "admin",
  summary: "Reads one redemption code.",
  params: idParams,
  data: Redemption,
  fails: ["code_not_found"],
});

export const redemptionCreate = endpoint({
  name: "redemptionCreate",
  method: "POST",
  path: "/api/redemption/",
  access: "admin",
  summary: "Creates `count` codes of one value, all or none, and answers them.",
  body: z.strictObject({
    name: z.optional(z.string()),
    /** Read as numbers, so that fractions are answered with the codes below. */
    quota: z.optional(z.number()),
    count: z.optional(z.number()),
  }),
  data: z.array(z.string()),
  fails: ["code_name_invalid", "code_quota_invalid", "code_count_too_small", "code_count_too_large"],
});

export const redemptionSetStatus = endpoint({
  name: "redemptionSetStatus",
  method: "PUT",
  path: "/api/redemption/",
  access: "admin",
  summary: "Enables or disables an unused code.",
  query: statusOnly,
  body: z.strictObject({ id: z.optional(z.int()), status: z.optional(z.int()) }),
  data: Redemption,
  fails: ["entity_changed", "code_not_found", "code_already_used", "status_not_settable"],
});

export const redemptionUpdate = endpoint({
  name: "redemptionUpdate",
  method: "PUT",
  path: "/api/redemption/",
  access: "admin",
  summary: "Changes name and value of an unused code.",
  body: z.strictObject({ id: z.optional(z.int()), name: z.optional(z.string()), quota: z.optional(z.number()) }),
  data: Redemption,
  fails: ["entity_changed", "code_not_found", "code_already_used", "code_name_invalid", "code_quota_invalid"],
});

export const redemptionDeleteInvalid = endpoint({
  name: "redemptionDeleteInvalid",
  method: "DELETE",
  path: "/api/redemption/invalid",
  access: "admin",
  summary: "Deletes all codes that are used or disabled and reports how many.",
  data: z.int(),
});

export const redemptionDelete = endpoint({
  name: "redemptionDelete",
  method: "DELETE",
  path: "/api/redemption/{id}",
  access: "admin",
  summary: "Deletes a code.",
  params: idParams,
  fails: ["code_not_found"],
});
