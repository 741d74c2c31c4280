import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";
import { eventSeverity } from "./webhook-types.ts";

/** Something that happened. */
export const Event = z.object({
  id: z.int(),
  type: z.string(),
  at_ms: z.int(),
  severity: eventSeverity,
  /** The account whose money it concerns; 0 = none. */
  account_id: z.int(),
  /** 0 = none. */
  team_id: z.int(),
  /** The person who hears it; 0 = only the operator, and the team if there is one. */
  user_id: z.int(),
  /** Facts by type: see the call for types. */
  data: z.record(z.string(), z.unknown()),
});
export type Event = z.output<typeof Event>;

/** A type of event. */
export const EventTypeInfo = z.object({
  type: z.string(),
  /** Default severity. */
  severity: eventSeverity,
  /** `operator`: only the operator hears it; `owner`: its person and team do too. */
  audience: z.enum(["operator", "owner"]),
  /** When it happens. */
  summary: z.string(),
  /** Members of its data with example values. */
  example: z.record(z.string(), z.unknown()),
});
export type EventTypeInfo = z.output<typeof EventTypeInfo>;

const listQuery = z.object({ ...pageFields, type: queryText, since: queryInt });

export const eventList = endpoint({
  name: "eventList",
  method: "GET",
  path: "/api/event/",
  access: "root",
  summary: "Lists the events of all accounts, newest first.",
  query: listQuery,
  data: z.array(Event),
});

export const eventListSelf = endpoint({
  name: "eventListSelf",
  method: "GET",
  path: "/api/event/self",
  access: "user",
  summary: "Lists the caller's events, newest first.",
  query: listQuery,
  data: z.array(Event),
});

export const eventTypes = endpoint({
  name: "eventTypes",
  method: "GET",
  path: "/api/event/types",
  access: "user",
  summary: "Lists the types of events. Members may be added to their data; meanings never change.",
  data: z.array(EventTypeInfo),
});
