import { destroy, read, write, type CallRights } from "./rights.ts";

/** The part of the table of rights for events and the endpoints to which they are sent. */
export const EVENT_CALL_RIGHTS: Readonly<Record<string, CallRights>> = {
  // /api/event
  // Alertmanager proves itself with a secret of its own.
  alertmanagerReceive: write([]),
  eventList: read("events"),
  eventListSelf: read("events"),
  eventTypes: read("events"),
  // /api/webhook
  webhookList: read("events"),
  webhookGet: read("events"),
  webhookCreate: write("events"),
  webhookUpdate: write("events"),
  webhookDelete: destroy("events"),
  webhookTest: write("events"),
  webhookRotateSecret: write("events"),
  webhookDeliveries: read("events"),
  webhookRedeliver: write("events"),
  webhookRecover: write("events"),
  teamWebhookList: read("teams"),
  teamWebhookGet: read("teams"),
  teamWebhookCreate: write("teams"),
  teamWebhookUpdate: write("teams"),
  teamWebhookDelete: destroy("teams"),
  teamWebhookTest: write("teams"),
  teamWebhookRotateSecret: write("teams"),
  teamWebhookDeliveries: read("teams"),
  teamWebhookRedeliver: write("teams"),
  teamWebhookRecover: write("teams"),
  operatorWebhookList: read("events"),
  operatorWebhookGet: read("events"),
  operatorWebhookCreate: write("events"),
  operatorWebhookUpdate: write("events"),
  operatorWebhookDelete: destroy("events"),
  operatorWebhookTest: write("events"),
  operatorWebhookRotateSecret: write("events"),
  operatorWebhookDeliveries: read("events"),
  operatorWebhookRedeliver: write("events"),
  operatorWebhookRecover: write("events"),
};
