import * as z from "zod/mini";
import { endpoint, type Access } from "../core/endpoint.ts";
import { idParams, pathId, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";
import {
  deliveryState,
  eventSeverity,
  webhookFormat,
  webhookLanguage,
  webhookQuietChange,
  WebhookQuiet,
  webhookStatus,
} from "./webhook-types.ts";

const name = z.string().check(z.minLength(1), z.maxLength(64));
const url = z.string().check(z.minLength(1), z.maxLength(2_048));
const secret = z.string().check(z.maxLength(512));
const chatId = z.string().check(z.maxLength(64));
const types = z.array(z.string().check(z.maxLength(64))).check(z.maxLength(100));
const groupSeconds = z.int().check(z.minimum(0), z.maximum(3_600));

/** An address that gets a message for each event that it wants. */
export const Webhook = z.object({
  id: z.int(),
  name: z.string(),
  format: webhookFormat,
  /** The host of the address; the rest of it is a secret and is never shown again. */
  host: z.string(),
  /** Types of events that it gets; empty = all. */
  types: z.array(z.string()),
  /** Events below this severity are not sent. */
  min_severity: eventSeverity,
  /** Language of the texts. */
  language: webhookLanguage,
  quiet: z.nullable(WebhookQuiet),
  /** Seconds in which events of one type become one message of a text format. */
  group_seconds: z.int(),
  /** True: an event waits until those before it were accepted. */
  ordered: z.boolean(),
  /** `untested` before a test has passed, `disabled` if the gateway switched it off. */
  status: webhookStatus,
  /** Why the gateway switched it off; "" otherwise. */
  disabled_reason: z.string(),
  /** Attempts that failed since the last success. */
  failures: z.int(),
  /** Epoch seconds of the last success; 0 = never. */
  succeeded_at: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
});
export type Webhook = z.output<typeof Webhook>;

/** An endpoint and the key that signs its messages, which is shown this once. */
export const WebhookWithKey = z.extend(Webhook, {
  /** `whsec_` and base64; "" for formats that the gateway does not sign. */
  signing_secret: z.string(),
});
export type WebhookWithKey = z.output<typeof WebhookWithKey>;

/** One delivery of an event to an endpoint. */
export const WebhookDelivery = z.object({
  id: z.int(),
  event_id: z.int(),
  /** Type of the event. */
  type: z.string(),
  severity: eventSeverity,
  state: deliveryState,
  /** Attempts so far. */
  attempts: z.int(),
  /** 0 = the first delivery; each redelivery has the next number. */
  redelivery: z.int(),
  created_ms: z.int(),
  /** When it is tried next, while it waits. */
  next_at_ms: z.int(),
  /** HTTP status of the last answer; 0 = there was none. */
  last_status: z.int(),
  /** Why the last attempt failed; "" otherwise. */
  last_error: z.string(),
  /** Milliseconds that the last attempt took. */
  last_ms: z.int(),
});
export type WebhookDelivery = z.output<typeof WebhookDelivery>;

/** What a test message brought. */
export const WebhookTestResult = z.object({
  /** True: the receiver accepted it, and the endpoint is on. */
  passed: z.boolean(),
  last_status: z.int(),
  last_error: z.string(),
  last_ms: z.int(),
});
export type WebhookTestResult = z.output<typeof WebhookTestResult>;

const optionalFields = {
  types: z.optional(types),
  min_severity: z.optional(eventSeverity),
  language: z.optional(webhookLanguage),
  /** Quiet hours; `off` ends them. */
  quiet: z.optional(webhookQuietChange),
  group_seconds: z.optional(groupSeconds),
  ordered: z.optional(z.boolean()),
  /** The secret that a robot of Feishu, Lark or DingTalk signs with; not for other formats. */
  secret: z.optional(secret),
  /** The chat that a bot of Telegram writes to. */
  chat_id: z.optional(chatId),
};

const createBody = z.strictObject({ name, format: webhookFormat, url, ...optionalFields });
const updateBody = z.strictObject({
  name: z.optional(name),
  url: z.optional(url),
  /** `on` or `off`. */
  status: z.optional(z.enum(["on", "off"])),
  ...optionalFields,
});
export type WebhookCreateBody = z.output<typeof createBody>;
export type WebhookUpdateBody = z.output<typeof updateBody>;

const deliveryQuery = z.object({ ...pageFields, state: queryText, type: queryText });
const deliveryParams = z.object({ id: pathId, did: pathId });
const unfit = ["webhook_url_refused", "event_type_unknown", "time_zone_unknown", "webhook_chat_missing"] as const;

interface Place {
  readonly prefix: string;
  readonly path: string;
  readonly access: Access;
  readonly whose: string;
}

/** Declares the calls for the endpoints of one kind of owner. */
function declareWebhookCalls(place: Place) {
  return { ...declareEndpointCalls(place), ...declareDeliveryCalls(place) };
}

function declareEndpointCalls({ prefix, path, access, whose }: Place) {
  const one = `${path}{id}`;
  const call = (suffix: string) => ({ name: `${prefix}${suffix}`, access });
  return {
    list: endpoint({ ...call("List"), method: "GET", path, summary: `Lists ${whose}.`, data: z.array(Webhook) }),
    get: endpoint({
      ...call("Get"),
      method: "GET",
      path: one,
      summary: `Reads one of ${whose}.`,
      params: idParams,
      data: Webhook,
      fails: ["webhook_not_found"],
    }),
    create: endpoint({
      ...call("Create"),
      method: "POST",
      path,
      summary: `Adds one to ${whose}; it gets events after a test has passed. Answers the key of its signatures, once.`,
      body: createBody,
      data: WebhookWithKey,
      fails: [...unfit, "too_many_webhooks", "webhooks_switched_off"],
    }),
    update: endpoint({
      ...call("Update"),
      method: "PUT",
      path: one,
      summary: `Changes one of ${whose}; a new address has to be tested again.`,
      params: idParams,
      body: updateBody,
      data: Webhook,
      fails: [...unfit, "webhook_not_found", "webhook_untested"],
    }),
    remove: endpoint({
      ...call("Delete"),
      method: "DELETE",
      path: one,
      summary: `Deletes one of ${whose} with its deliveries.`,
      params: idParams,
      fails: ["webhook_not_found"],
    }),
  };
}

function declareDeliveryCalls({ prefix, path, access, whose }: Place) {
  const one = `${path}{id}`;
  const call = (suffix: string) => ({ name: `${prefix}${suffix}`, access });
  return {
    test: endpoint({
      ...call("Test"),
      method: "POST",
      path: `${one}/test`,
      rate: "critical",
      summary: `Sends a test message to one of ${whose} and switches it on if that is accepted.`,
      params: idParams,
      data: WebhookTestResult,
      fails: ["webhook_not_found", "webhooks_switched_off"],
    }),
    rotate: endpoint({
      ...call("RotateSecret"),
      method: "POST",
      path: `${one}/rotate_secret`,
      summary: "Makes a new signing key and answers it, once; the former one signs too for another 24 hours.",
      params: idParams,
      data: WebhookWithKey,
      fails: ["webhook_not_found", "webhook_not_signed"],
    }),
    deliveries: endpoint({
      ...call("Deliveries"),
      method: "GET",
      path: `${one}/deliveries`,
      summary: "Lists the deliveries of an endpoint, newest first, by state and type.",
      params: idParams,
      query: deliveryQuery,
      data: z.array(WebhookDelivery),
      fails: ["webhook_not_found"],
    }),
    redeliver: endpoint({
      ...call("Redeliver"),
      method: "POST",
      path: `${one}/deliveries/{did}/redeliver`,
      summary: "Sends the event of a delivery again, under the same message id.",
      params: deliveryParams,
      data: z.int(),
      fails: ["webhook_not_found", "webhook_delivery_not_found"],
    }),
    recover: endpoint({
      ...call("Recover"),
      method: "POST",
      path: `${one}/recover`,
      summary: "Sends the events since a time that the endpoint has not accepted, at most 1,000; reports how many.",
      params: idParams,
      body: z.strictObject({
        /** Epoch seconds. */
        since: z.int().check(z.minimum(0)),
      }),
      data: z.int(),
      fails: ["webhook_not_found"],
    }),
  };
}

export const ownWebhookCalls = declareWebhookCalls({
  prefix: "webhook",
  path: "/api/webhook/",
  access: "user",
  whose: "the caller's endpoints for events",
});
export const operatorWebhookCalls = declareWebhookCalls({
  prefix: "operatorWebhook",
  path: "/api/webhook/operator/",
  access: "root",
  whose: "the operator's endpoints, which get the events of all accounts",
});
export type WebhookCalls = typeof ownWebhookCalls;

/** The calls for the endpoints of one team, as those for the own ones: its id is in the address already. */
export function teamWebhookCalls(team: number): WebhookCalls {
  return declareWebhookCalls({
    prefix: "teamWebhook",
    path: `/api/team/${team}/webhook/`,
    access: "user",
    whose: "a team's endpoints for events",
  });
}

const TEAM_PATH = "/api/team/{id}/webhook/";
const TEAM_ONE = `${TEAM_PATH}{wid}`;
const likeTeam = declareWebhookCalls({
  prefix: "teamWebhook",
  path: TEAM_PATH,
  access: "user",
  whose: "a team's endpoints for events",
});
const teamParams = z.object({ id: pathId, wid: pathId });
const teamDeliveryParams = z.object({ id: pathId, wid: pathId, did: pathId });
const teamFails = ["team_not_found", "team_right_missing"] as const;

export const teamWebhookList = endpoint({ ...likeTeam.list, params: idParams, fails: teamFails });
export const teamWebhookGet = endpoint({
  ...likeTeam.get,
  path: TEAM_ONE,
  params: teamParams,
  fails: [...likeTeam.get.fails, ...teamFails],
});
export const teamWebhookCreate = endpoint({
  ...likeTeam.create,
  params: idParams,
  fails: [...likeTeam.create.fails, ...teamFails],
});
export const teamWebhookUpdate = endpoint({
  ...likeTeam.update,
  path: TEAM_ONE,
  params: teamParams,
  fails: [...likeTeam.update.fails, ...teamFails],
});
export const teamWebhookDelete = endpoint({
  ...likeTeam.remove,
  path: TEAM_ONE,
  params: teamParams,
  fails: [...likeTeam.remove.fails, ...teamFails],
});
export const teamWebhookTest = endpoint({
  ...likeTeam.test,
  path: `${TEAM_ONE}/test`,
  params: teamParams,
  fails: [...likeTeam.test.fails, ...teamFails],
});
export const teamWebhookRotateSecret = endpoint({
  ...likeTeam.rotate,
  path: `${TEAM_ONE}/rotate_secret`,
  params: teamParams,
  fails: [...likeTeam.rotate.fails, ...teamFails],
});
export const teamWebhookDeliveries = endpoint({
  ...likeTeam.deliveries,
  path: `${TEAM_ONE}/deliveries`,
  params: teamParams,
  fails: [...likeTeam.deliveries.fails, ...teamFails],
});
export const teamWebhookRedeliver = endpoint({
  ...likeTeam.redeliver,
  path: `${TEAM_ONE}/deliveries/{did}/redeliver`,
  params: teamDeliveryParams,
  fails: [...likeTeam.redeliver.fails, ...teamFails],
});
export const teamWebhookRecover = endpoint({
  ...likeTeam.recover,
  path: `${TEAM_ONE}/recover`,
  params: teamParams,
  fails: [...likeTeam.recover.fails, ...teamFails],
});

export const {
  list: webhookList,
  get: webhookGet,
  create: webhookCreate,
  update: webhookUpdate,
  remove: webhookDelete,
  test: webhookTest,
  rotate: webhookRotateSecret,
  deliveries: webhookDeliveries,
  redeliver: webhookRedeliver,
  recover: webhookRecover,
} = ownWebhookCalls;
export const {
  list: operatorWebhookList,
  get: operatorWebhookGet,
  create: operatorWebhookCreate,
  update: operatorWebhookUpdate,
  remove: operatorWebhookDelete,
  test: operatorWebhookTest,
  rotate: operatorWebhookRotateSecret,
  deliveries: operatorWebhookDeliveries,
  redeliver: operatorWebhookRedeliver,
  recover: operatorWebhookRecover,
} = operatorWebhookCalls;
