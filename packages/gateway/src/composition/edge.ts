import { serverAddress } from "@fairway/wire";
import { createScim } from "../resources/scim/handler.ts";
import { createDeriveId } from "../relay/tenancy/derive-id.ts";
import { findConsoleFolder } from "./console.ts";
import type { Core } from "./core.ts";
import type { Management } from "./management.ts";
import type { Objects } from "./objects.ts";
import { requireContext } from "../http/context.ts";
import type { Draining } from "../http/open-calls.ts";
import { contentPolicy } from "../http/security.ts";
import { createHttpServer, type HttpServer } from "../http/server.ts";
import { createAuthenticator } from "../identity/authentication/authenticator.ts";
import type { Authenticator } from "../identity/authentication/caller.ts";
import { rememberHashes } from "../identity/keys/key-hashes.ts";
import { edgeRules } from "../limits/rules.ts";
import type { Health } from "../observability/health.ts";
import type { Tracing } from "../observability/tracing/call-span.ts";
import { BodyMemory } from "../limits/body-memory.ts";
import { createSpoolDisk } from "../relay/body/spool.ts";
import { readBilling } from "../relay/ingress/billing-reads.ts";
import type { CallLimit } from "../relay/admission/call-limit.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import { createOpenSockets } from "../relay/realtime/open-sockets.ts";
import { createRealtime, type UpgradeHandler } from "../relay/realtime/upgrade.ts";
import { createRelay, withoutRelay, type RelayDeps, type RelayHandler } from "../relay/ingress/relay.ts";
import type { ReadRequestDeps } from "../relay/ingress/read-request.ts";
import type { BatchHandler } from "../batches/handler.ts";
import type { TaskHandler } from "../tasks/handler.ts";
import type { Reporter } from "../relay/pipeline/report.ts";

const DECODED_TO_SENT = 2;
const SLOWEST_BYTES_PER_SECOND = 1024;

/** The handlers of model traffic. */
export interface Traffic {
  readonly relay: RelayHandler;
  /** Handles WebSockets. */
  readonly upgrade: UpgradeHandler;
  readonly draining: Draining;
}

/** Authenticates the caller of a relay route. */
export function createRelayAuthenticator(core: Core): Authenticator {
  const { storage, snapshots, identity } = core;
  return createAuthenticator({
    ...core,
    ...storage,
    hashKey: rememberHashes(storage.vault.hashKey),
    options: () => snapshots.current().options,
    sessions: identity.sessions,
  });
}

/** Creates the dependencies for identifying, limiting and reading requests. */
export function buildReadRequestDeps(
  { env, storage, snapshots, metrics }: Core,
  authenticator: Authenticator,
  calls: CallLimit,
): ReadRequestDeps {
  return {
    authenticator,
    snapshots,
    deriveId: createDeriveId(storage.vault),
    bodyLimits: {
      maxBytes: env.maxBodyBytes,
      maxDecodedBytes: DECODED_TO_SENT * env.maxBodyBytes,
      minBytesPerSecond: SLOWEST_BYTES_PER_SECOND,
      disk: createSpoolDisk(env.spoolMegabytes * 1_048_576, metrics.spoolRefused),
      maxJsonBytes: env.maxJsonBytes,
      memory: new BodyMemory(env.bodyMemoryBytes),
    },
    calls,
  };
}

/** The dependencies of the handlers for model traffic. */
export interface TrafficParts {
  readonly pipeline: PipelineDeps;
  readonly reporter: Reporter;
  /** Undefined if no traces are sent. */
  readonly tracing: Tracing | undefined;
  readonly health: Health;
  readonly reading: ReadRequestDeps;
  readonly tasks: TaskHandler;
  readonly objects: Pick<Objects, "handler" | "findFiles" | "cacheHandler" | "containerHandler">;
  readonly batches: BatchHandler;
}

/** Creates the handlers of every path with model traffic. */
export function createTraffic({ env, snapshots, storage }: Core, parts: TrafficParts): Traffic {
  const { pipeline, reporter, tracing, health, reading, tasks, objects, batches } = parts;
  const isDraining = () => health.isDraining;
  const { owners, responseStore } = pipeline.upstream;
  const deps: RelayDeps = {
    ...pipeline,
    telemetry: { ...pipeline.telemetry, reporter, tracing },
    edge: { readArrival: requireContext, isDraining, maxInflight: env.maxInflight },
    reading,
    stateful: { owners, responseStore, bodyLimits: reading.bodyLimits },
    tenancy: { owners, deriveId: reading.deriveId, findFiles: objects.findFiles },
    handlers: {
      tasks,
      objects: objects.handler,
      batches,
      caches: objects.cacheHandler,
      containers: objects.containerHandler,
      billing: (caller, read) => readBilling(caller, read, snapshots.current(), storage.database),
    },
  };
  const draining = { isDraining, calls: pipeline.running };
  return {
    relay: createRelay(deps),
    upgrade: createRealtime({ ...deps, sockets: createOpenSockets(env.maxSockets) }),
    draining,
  };
}

/** Creates the public listener: relay, management API, console. */
export function createPublicServer(
  core: Core,
  { routes, accounts }: Management,
  traffic: Traffic,
  { bodyLimits }: Pick<ReadRequestDeps, "bodyLimits">,
): Promise<HttpServer> {
  const { env, snapshots, identity } = core;
  const rules = edgeRules(env);
  const policy = () => {
    const { TurnstileCheckEnabled, TelegramOAuthEnabled } = snapshots.current().options;
    return contentPolicy({ hasTurnstile: TurnstileCheckEnabled, hasTelegram: TelegramOAuthEnabled });
  };
  const { relay, upgrade, draining } = traffic;
  const servesConsole = env.roles.has("console");
  return createHttpServer({
    ...core,
    draining,
    ...(env.roles.has("relay") ? { relay, upgrade } : { relay: withoutRelay }),
    routes: servesConsole ? routes : [],
    ...(servesConsole && {
      scim: createScim({
        ...accounts,
        ...core,
        memory: bodyLimits.memory,
        publicAddress: () => serverAddress(accounts.options(), env.publicUrl),
        onAnswered: core.metrics.scimAnswered,
      }),
    }),
    memory: bodyLimits.memory,
    rules,
    requestTimeoutMs: env.requestTimeoutSeconds * 1_000,
    maxConnectionsPerAddress: env.maxConnectionsPerAddress,
    webRule: rules.web,
    credentials: identity.credentials,
    humanCheck: identity.humanCheck,
    trustedProxies: env.trustedProxies,
    console: {
      dir: servesConsole ? findConsoleFolder(env.consoleProgress) : undefined,
      progress: servesConsole ? env.consoleProgress : undefined,
      policy,
    },
  });
}
