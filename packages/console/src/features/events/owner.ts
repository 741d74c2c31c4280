import {
  eventList,
  eventListSelf,
  operatorWebhookCalls,
  ownWebhookCalls,
  teamWebhookCalls,
  type WebhookCalls,
} from "@fairway/wire";

/** Whose endpoints a page shows. */
export interface Owner {
  /** `own`, `operator`, or `team` and its id. */
  readonly name: string;
  /** The page of the list. */
  readonly path: string;
  readonly title: "ownTitle" | "operatorTitle" | "teamTitle";
  readonly body: "ownBody" | "operatorBody" | "teamBody";
  /** The page of what happened, for links. */
  readonly events: string;
  readonly calls: WebhookCalls;
}

export const OWN: Owner = {
  name: "own",
  path: "/webhook",
  title: "ownTitle",
  body: "ownBody",
  events: "/event",
  calls: ownWebhookCalls,
};
export const OPERATOR: Owner = {
  name: "operator",
  path: "/operator-webhook",
  title: "operatorTitle",
  body: "operatorBody",
  events: "/event?whose=all",
  // Both owners have the same calls at different addresses.
  calls: operatorWebhookCalls,
};

/** Returns the owner for the endpoints of a team. */
export function buildTeamOwner(team: number): Owner {
  return {
    name: `team ${team}`,
    path: `/team/${team}/webhook`,
    title: "teamTitle",
    body: "teamBody",
    events: "/event",
    calls: teamWebhookCalls(team),
  };
}

/** The lists of events by whose they are. */
export const EVENT_CALLS = { own: eventListSelf, all: eventList } as const;
