import {
  MAX_WEBHOOKS,
  operatorWebhookCalls,
  ownWebhookCalls,
  resolvePage,
  teamWebhookCreate,
  teamWebhookDelete,
  teamWebhookDeliveries,
  teamWebhookGet,
  teamWebhookList,
  teamWebhookRecover,
  teamWebhookRedeliver,
  teamWebhookRotateSecret,
  teamWebhookTest,
  teamWebhookUpdate,
  type WebhookCalls,
  type WebhookCreateBody,
  type WebhookUpdateBody,
  type WebhookWithKey,
} from "@fairway/wire";
import { implement, type Call, type Principal, type Route } from "../../http/endpoint.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { createSigningKey, rotateKeys } from "../../webhooks/formats/standard.ts";
import { isPermitted } from "../../webhooks/match.ts";
import { OPERATOR, writeOwner, type Owner } from "../../webhooks/owners.ts";
import { attempt } from "../../webhooks/sending/attempt.ts";
import type { WebhookDeps } from "../../webhooks/types.ts";
import { changeTarget, checkChange, checkNew, type Checked } from "./check-input.ts";
import { listMissedEvents } from "./missed-events.ts";
import { showEndpoint, type PostedEndpoint, type WebhookStore } from "./store.ts";

export interface WebhookRouteDeps extends WebhookDeps {
  readonly store: WebhookStore;
  /** Returns the team of a call whose caller may change its endpoints; throws for others. */
  readonly findManagedTeam: (call: TeamCall) => Promise<number>;
}

interface TeamCall {
  readonly caller: Principal;
  readonly params: { readonly id: number };
}

/** Creates the calls for the endpoints of people, teams and the operator. */
export function webhookRoutes(deps: WebhookRouteDeps): Route[] {
  const actions = createActions(deps);
  return [
    ...ownedRoutes(actions, operatorWebhookCalls, () => OPERATOR),
    ...ownedRoutes(actions, ownWebhookCalls, ({ caller }) => ({ scope: "user", id: caller.userId })),
    ...teamRoutes(actions, deps),
  ];
}

type Actions = ReturnType<typeof createActions>;

/** What can be done with the endpoints of an owner. */
function createActions(deps: WebhookRouteDeps) {
  const { store } = deps;
  const require = async (owner: Owner, id: number): Promise<PostedEndpoint> => {
    const endpoint = await store.find(writeOwner(owner), id);
    if (!endpoint) throw new Refusal("webhook_not_found");
    return endpoint;
  };
  return {
    list: async (owner: Owner) => (await store.list(writeOwner(owner))).map(showEndpoint),
    get: async (owner: Owner, id: number) => showEndpoint(await require(owner, id)),
    create: (owner: Owner, body: WebhookCreateBody) => create(deps, owner, checkNew(body, owner)),
    async update(owner: Owner, id: number, body: WebhookUpdateBody) {
      const endpoint = await require(owner, id);
      const values = checkChange(body, { owner, endpoint });
      await store.change(writeOwner(owner), endpoint.id, values, changeTarget(body));
      return showEndpoint(await require(owner, endpoint.id));
    },
    async remove(owner: Owner, id: number) {
      if (!(await store.remove(writeOwner(owner), id))) throw new Refusal("webhook_not_found");
    },
    test: async (owner: Owner, id: number) => test(deps, await require(owner, id)),
    rotate: async (owner: Owner, id: number) => rotate(deps, owner, await require(owner, id)),
    async deliveries(owner: Owner, id: number, call: Pick<Call<WebhookCalls["deliveries"]>, "query" | "setTotal">) {
      const endpoint = await require(owner, id);
      const { rows, total } = await store.deliveries(endpoint.id, { ...call.query, ...resolvePage(call.query) });
      call.setTotal(total);
      return rows;
    },
    async redeliver(owner: Owner, id: number, delivery: number) {
      const endpoint = await require(owner, id);
      const redelivery = await store.redeliver(endpoint.id, delivery);
      if (redelivery === undefined) throw new Refusal("webhook_delivery_not_found");
      return redelivery;
    },
    async recover(owner: Owner, id: number, since: number) {
      const endpoint = await require(owner, id);
      return store.recover(endpoint, await listMissedEvents(deps, endpoint, since));
    },
  };
}

type FindOwner = (call: Pick<Call<WebhookCalls["list"]>, "caller">) => Owner;

function ownedRoutes(actions: Actions, calls: WebhookCalls, findOwner: FindOwner): Route[] {
  return [
    implement(calls.list, (call) => actions.list(findOwner(call))),
    implement(calls.get, (call) => actions.get(findOwner(call), call.params.id)),
    implement(calls.create, (call) => actions.create(findOwner(call), call.body)),
    implement(calls.update, (call) => actions.update(findOwner(call), call.params.id, call.body)),
    implement(calls.remove, (call) => actions.remove(findOwner(call), call.params.id)),
    implement(calls.test, (call) => actions.test(findOwner(call), call.params.id)),
    implement(calls.rotate, (call) => actions.rotate(findOwner(call), call.params.id)),
    implement(calls.deliveries, (call) => actions.deliveries(findOwner(call), call.params.id, call)),
    implement(calls.redeliver, (call) => actions.redeliver(findOwner(call), call.params.id, call.params.did)),
    implement(calls.recover, (call) => actions.recover(findOwner(call), call.params.id, call.body.since)),
  ];
}

/** The endpoints of a team are those of its owners and admins. */
function teamRoutes(actions: Actions, { findManagedTeam }: WebhookRouteDeps): Route[] {
  const own = async (call: TeamCall): Promise<Owner> => ({ scope: "team", id: await findManagedTeam(call) });
  return [
    implement(teamWebhookList, async (call) => actions.list(await own(call))),
    implement(teamWebhookGet, async (call) => actions.get(await own(call), call.params.wid)),
    implement(teamWebhookCreate, async (call) => actions.create(await own(call), call.body)),
    implement(teamWebhookUpdate, async (call) => actions.update(await own(call), call.params.wid, call.body)),
    implement(teamWebhookDelete, async (call) => actions.remove(await own(call), call.params.wid)),
    implement(teamWebhookTest, async (call) => actions.test(await own(call), call.params.wid)),
    implement(teamWebhookRotateSecret, async (call) => actions.rotate(await own(call), call.params.wid)),
    implement(teamWebhookDeliveries, async (call) => actions.deliveries(await own(call), call.params.wid, call)),
    implement(teamWebhookRedeliver, async (call) =>
      actions.redeliver(await own(call), call.params.wid, call.params.did),
    ),
    implement(teamWebhookRecover, async (call) => actions.recover(await own(call), call.params.wid, call.body.since)),
  ];
}

async function create(deps: WebhookRouteDeps, owner: Owner, { values, target }: Checked): Promise<WebhookWithKey> {
  const { store } = deps;
  refuseSwitchedOff(deps, owner, values.format);
  const key = values.format === "standard" ? createSigningKey() : "";
  const max = MAX_WEBHOOKS[owner.scope];
  const keys = key === "" ? [] : [{ key }];
  const id = await store.create(writeOwner(owner), values, { target: { ...target, keys }, max });
  const endpoint = id === undefined ? undefined : await store.find(writeOwner(owner), id);
  if (!endpoint) throw new Refusal("too_many_webhooks", { values: { n: max } });
  return { ...showEndpoint(endpoint), signing_secret: key };
}

function refuseSwitchedOff({ options }: WebhookRouteDeps, owner: Owner, format: string): void {
  if (!isPermitted({ owner: writeOwner(owner), format }, options().UserWebhooks))
    throw new Refusal("webhooks_switched_off");
}

/** Sends a message about the endpoint itself, which is no event of the list. */
async function test(deps: WebhookRouteDeps, endpoint: PostedEndpoint) {
  const { store, clock, options } = deps;
  const isAllowed = isPermitted(endpoint, options().UserWebhooks);
  if (!isAllowed) throw new Refusal("webhooks_switched_off");
  const target = await store.readTarget(endpoint.id);
  if (!target) throw new Refusal("webhook_not_found");
  const { id, name } = endpoint;
  const event = {
    id: 0,
    type: "webhook.test",
    at_ms: clock.now(),
    account_id: 0,
    team_id: 0,
    user_id: 0,
    severity: "info",
    dedup_key: "",
    data: { id, name },
  } as const;
  const result = await attempt(deps, { endpoint, target, events: [event], redelivery: 0 });
  if (result.isDone) await store.passTest(id);
  return { passed: result.isDone, last_status: result.status, last_error: result.error, last_ms: result.ms };
}

async function rotate(
  { store, clock }: WebhookRouteDeps,
  owner: Owner,
  endpoint: PostedEndpoint,
): Promise<WebhookWithKey> {
  if (endpoint.format !== "standard") throw new Refusal("webhook_not_signed");
  const key = createSigningKey();
  const now = seconds(clock);
  await store.change(writeOwner(owner), endpoint.id, {}, (target) => ({
    ...target,
    keys: rotateKeys(target.keys, key, now),
  }));
  return { ...showEndpoint(endpoint), updated_at: now, signing_secret: key };
}
