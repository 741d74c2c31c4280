import { parseOptions, type OptionValues, type WebhookFormat } from "@fairway/wire";
import { recordEvent, type NewEvent } from "../../src/events/record-event.ts";
import { createMailer } from "../../src/identity/mail/mailer.ts";
import { DIRECT } from "../../src/lib/net/network.ts";
import { createPoster } from "../../src/lib/net/post-once.ts";
import { createMetrics } from "../../src/observability/metrics.ts";
import { createWebhookStore, type EndpointValues, type WebhookStore } from "../../src/resources/webhooks/store.ts";
import type { Database } from "../../src/storage/database.ts";
import type { RawTransaction } from "../../src/storage/engines/raw.ts";
import { createFanOut } from "../../src/webhooks/fan-out.ts";
import { createSigningKey } from "../../src/webhooks/formats/standard.ts";
import { createSender } from "../../src/webhooks/sending/sender.ts";
import type { Target, WebhookDeps } from "../../src/webhooks/types.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "./store-kit.ts";
import { quietLog } from "./support.ts";

export interface WebhookKit extends Pick<StoreKit, "database" | "vault"> {
  readonly store: WebhookStore;
  readonly deps: WebhookDeps;
  readonly options: { values: OptionValues };
  /** Moves the clock. */
  move(ms: number): void;
  now(): number;
  record(more?: Partial<NewEvent>): Promise<void>;
  /** Creates an endpoint that is on. */
  addEndpoint(
    more: Partial<EndpointValues> & { readonly owner?: string; readonly target?: Partial<Target> },
  ): Promise<number>;
  /** Runs both jobs, as the leader or as one that is no longer. */
  run(confirm?: (tx: RawTransaction) => Promise<void>): Promise<void>;
  deliveries(): Promise<Awaited<ReturnType<typeof listDeliveries>>>;
  /** Removes all rows. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export const SIGNING_KEY = createSigningKey();

export async function openWebhookKit(
  url: string,
  timeoutMs = 15_000,
  attach: NonNullable<WebhookDeps["attach"]> = () => Promise.resolve([]),
): Promise<WebhookKit> {
  const { database, vault } = await openStoreKit(url);
  let now = START_SECONDS * 1_000;
  let recorded = 0;
  const clock = { now: () => now };
  const options = { values: parseOptions([]) };
  const deps: WebhookDeps = {
    database,
    vault,
    clock,
    log: quietLog,
    metrics: createMetrics({ version: "0" }),
    poster: createPoster({ network: DIRECT, timeoutMs }),
    mailer: createMailer(() => options.values),
    attach,
    options: () => options.values,
    serverAddress: () => "https://gw.example",
    random: () => 0.5,
  };
  const store = createWebhookStore(deps);
  const life = { fanOut: createFanOut(deps), sender: createSender(deps) };
  return {
    database,
    vault,
    store,
    deps,
    options,
    move: (ms) => void (now += ms),
    now: () => now,
    async record(more = {}) {
      recorded += 1;
      const event = { type: "balance.low", atMs: now, userId: 5, dedupKey: `k${recorded}`, data: {} } as const;
      await recordEvent(database.db, { ...event, ...more });
    },
    async addEndpoint({ owner = "operator", target = {}, ...values }) {
      const whole = { ...DEFAULTS, ...values };
      const keys = whole.format === "standard" ? [{ key: SIGNING_KEY }] : [];
      const id = await store.create(owner, whole, { target: { ...NO_TARGET, keys, ...target }, max: 100 });
      if (id === undefined) throw new Error("too many endpoints");
      return id;
    },
    async run(confirm = () => Promise.resolve()) {
      const never = new AbortController().signal;
      await life.fanOut(never, confirm);
      await life.sender.run(never, confirm);
      await life.sender.stop();
    },
    deliveries: () => listDeliveries(database),
    async clear() {
      for (const table of ["events", "webhook_endpoints", "webhook_deliveries", "revisions"] as const)
        await database.db.deleteFrom(table).execute();
      life.fanOut = createFanOut(deps);
    },
    async close() {
      await deps.poster.close();
      await database.close();
    },
  };
}

const NO_TARGET: Target = { url: "", keys: [], secret: "", chatId: "" };
const DEFAULTS: Required<EndpointValues> = {
  name: "on-call",
  format: "standard" satisfies WebhookFormat,
  host: "",
  types: "[]",
  min_severity: "info",
  language: "en",
  quiet: null,
  group_seconds: 0,
  ordered: 0,
  status: "on",
};

function listDeliveries({ db }: Database) {
  return db.selectFrom("webhook_deliveries").selectAll().orderBy("id").execute();
}
