import {
  eventTypes,
  selfNotifications,
  selfNotificationsUpdate,
  type Event,
  type EventTypeInfo,
  type Notifications,
  type WebhookQuiet,
  type NO_QUIET,
  type USUAL_LIMIT,
  type Webhook,
  type WebhookCreateBody,
  type WebhookDelivery,
  type WebhookTestResult,
  type WebhookUpdateBody,
  type WebhookWithKey,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";
import { rangeName, resolveBounds } from "../../lib/range.ts";
import { readRows, readVersion, type Rows } from "../../lib/rows.ts";
import { EVENT_CALLS, type Owner } from "./owner.ts";

export const typesQuery = queryOptions({
  queryKey: queryKeys.events.types,
  queryFn: ({ signal }): Promise<EventTypeInfo[]> => call(eventTypes, { signal }),
  staleTime: FRESH_STATIC_MS,
});

/** A delivery is made a second or two after its event: a page that is open shows it soon. */
const DELIVERIES_EVERY_MS = 5_000;

export const USUAL_RANGE = "7d";

export interface EventFilter {
  readonly whose: "own" | "all";
  readonly type: string;
  readonly range: string;
}

interface Paging {
  readonly page: number;
  readonly size: number;
}

export function eventsQuery({ whose, type, range }: EventFilter, { page, size }: Paging) {
  return queryOptions({
    queryKey: queryKeys.events.list(whose, type, range, page, size),
    queryFn: ({ signal }): Promise<Rows<Event>> => {
      const { from } = resolveBounds(rangeName(range, USUAL_RANGE), nowSeconds(), { from: "", to: "" });
      const query = { p: page - 1, page_size: size, type, since: from };
      return readRows(EVENT_CALLS[whose], { query, signal });
    },
    placeholderData: keepPreviousData,
  });
}

export const mailsQuery = queryOptions({
  queryKey: queryKeys.webhooks.mails,
  queryFn: ({ signal }): Promise<Notifications> => call(selfNotifications, { signal }),
});

interface MailChoice {
  readonly types: string[];
  readonly language: Notifications["language"];
  readonly quiet: WebhookQuiet | typeof NO_QUIET;
  readonly balance_limit: number | typeof USUAL_LIMIT;
}

export async function chooseMails(body: MailChoice): Promise<void> {
  queryClient.setQueryData(mailsQuery.queryKey, await call(selfNotificationsUpdate, { body }));
}

export function endpointsQuery({ name, calls }: Owner) {
  return queryOptions({
    queryKey: queryKeys.webhooks.list(name),
    queryFn: ({ signal }): Promise<Webhook[]> => call(calls.list, { signal }),
  });
}

export function shownEndpointQuery({ name, calls }: Owner, id: number) {
  return queryOptions({
    queryKey: queryKeys.webhooks.shown(name, id),
    queryFn: ({ signal }): Promise<Webhook> => call(calls.get, { params: { id }, signal }),
    refetchInterval: DELIVERIES_EVERY_MS,
  });
}

export function editedEndpointQuery({ name, calls }: Owner, id: number) {
  return queryOptions({
    queryKey: queryKeys.webhooks.one(name, id),
    queryFn: ({ signal }) => readVersion(calls.get, { params: { id }, signal }),
    // A form starts from the server's current version, not from an older visit.
    gcTime: 0,
    staleTime: Infinity,
  });
}

export interface DeliveryFilter {
  readonly id: number;
  readonly state: string;
  readonly type: string;
}

export function deliveriesQuery({ name, calls }: Owner, { id, state, type }: DeliveryFilter, { page, size }: Paging) {
  return queryOptions({
    queryKey: queryKeys.webhooks.deliveries(name, id, state, type, page, size),
    queryFn: ({ signal }): Promise<Rows<WebhookDelivery>> =>
      readRows(calls.deliveries, { params: { id }, query: { p: page - 1, page_size: size, state, type }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: DELIVERIES_EVERY_MS,
  });
}

function refresh({ name }: Owner): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.webhooks.all(name) });
}

export async function createEndpoint(owner: Owner, body: WebhookCreateBody): Promise<WebhookWithKey> {
  const made = await call(owner.calls.create, { body });
  await refresh(owner);
  return made;
}

export async function updateEndpoint(owner: Owner, id: number, body: WebhookUpdateBody): Promise<void> {
  await call(owner.calls.update, { params: { id }, body });
  await refresh(owner);
}

export async function deleteEndpoint(owner: Owner, id: number): Promise<void> {
  await call(owner.calls.remove, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.webhooks.list(owner.name) });
}

export async function testEndpoint(owner: Owner, id: number): Promise<WebhookTestResult> {
  const result = await call(owner.calls.test, { params: { id } });
  await refresh(owner);
  return result;
}

/** Makes a new signing key and returns it. */
export async function rotateKey(owner: Owner, id: number): Promise<string> {
  const { signing_secret: key } = await call(owner.calls.rotate, { params: { id } });
  await refresh(owner);
  return key;
}

export async function redeliver(owner: Owner, id: number, did: number): Promise<void> {
  await call(owner.calls.redeliver, { params: { id, did } });
  await refresh(owner);
}

/** Sends what the endpoint missed since a time; returns how many events that are. */
export async function recoverSince(owner: Owner, id: number, since: number): Promise<number> {
  const count = await call(owner.calls.recover, { params: { id }, body: { since } });
  await refresh(owner);
  return count;
}
