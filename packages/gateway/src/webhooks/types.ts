import type { OptionValues } from "@fairway/wire";
import type { MailAttachment, Mailer } from "../identity/mail/mailer.ts";
import type { Clock } from "../lib/clock.ts";
import type { Poster } from "../lib/net/post-once.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Database } from "../storage/database.ts";
import type { Vault } from "../storage/secrets/secrets.ts";
import type { EndpointStatus, EventTable, Severity } from "../storage/tables/schema-events.ts";
import type { WebhookFormat, WebhookLanguage, WebhookQuiet } from "@fairway/wire";

/** Mails are no endpoint that a person adds: they follow from the person's preferences. */
export type EndpointFormat = WebhookFormat | "mail";

/** A stored event. */
export interface StoredEvent extends Omit<EventTable, "id" | "account_id" | "team_id" | "user_id" | "data"> {
  readonly id: number;
  readonly account_id: number;
  readonly team_id: number;
  readonly user_id: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A key that signs; after a rotation the former one signs too until its end. */
export interface SigningKey {
  /** `whsec_` and base64. */
  readonly key: string;
  /** Seconds; absent for the newest. */
  readonly until?: number | undefined;
}

/** The sealed part of an endpoint. */
export interface Target {
  readonly url: string;
  /** Signs messages of the format `standard`. */
  readonly keys: readonly SigningKey[];
  /** The secret that a chat program gave for its robot. */
  readonly secret: string;
  readonly chatId: string;
}

export interface Endpoint {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly format: EndpointFormat;
  readonly host: string;
  readonly types: readonly string[];
  readonly minSeverity: Severity;
  readonly language: WebhookLanguage;
  readonly quiet: WebhookQuiet | undefined;
  readonly groupSeconds: number;
  readonly isOrdered: boolean;
  readonly status: EndpointStatus;
  readonly failures: number;
  readonly timeouts: number;
  readonly failingSince: number;
  readonly nextAtMs: number;
  readonly succeededAt: number;
  readonly disabledReason: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface WebhookDeps {
  readonly database: Database;
  readonly vault: Pick<Vault, "seal" | "open">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "webhookDelivered" | "webhookBacklog" | "eventsFannedOut">;
  readonly poster: Poster;
  readonly mailer: Mailer;
  /** Makes the files of a mail about these events. */
  readonly attach?: (events: readonly StoredEvent[]) => Promise<readonly MailAttachment[]>;
  readonly options: () => OptionValues;
  /** Address of the console, without a slash at its end; "" if unknown. */
  readonly serverAddress: () => string;
  readonly random: () => number;
}
