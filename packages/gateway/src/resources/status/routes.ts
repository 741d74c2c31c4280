import { isLoopback } from "../../lib/net/ip.ts";
import { about, homePage, notice, status, statusTest, type OptionValues } from "@fairway/wire";
import type { IncomingMessage } from "node:http";
import type { RequestContext } from "../../http/context.ts";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { statusView, type StatusFacts } from "./view.ts";

export interface StatusRoutesDeps extends Omit<StatusFacts, "isSetUp" | "signIn"> {
  readonly options: () => OptionValues;
  readonly isSetUp: () => boolean;
  readonly database: Pick<Database, "ping">;
  readonly clock: Clock;
  /** Never rejects: the status is answered without the database too. */
  readonly listOffers: () => Promise<StatusFacts["signIn"]>;
}

const PING_EVERY_MS = 10_000;

export function statusRoutes(deps: StatusRoutesDeps): Route[] {
  const ping = createPing(deps);
  return [
    implement(status, async ({ request, context }) => {
      const publicUrl = deps.publicUrl ?? findLocalAddress(request, context);
      return statusView(deps.options(), {
        ...deps,
        publicUrl,
        isSetUp: deps.isSetUp(),
        signIn: await deps.listOffers(),
      });
    }),
    implement(statusTest, async (call) => {
      if (!(await ping())) throw new Refusal("database_unavailable");
      call.message("Server is running");
    }),
    implement(notice, () => deps.options().Notice),
    implement(about, () => deps.options().About),
    implement(homePage, () => deps.options().HomePageContent),
  ];
}

const HOST = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Returns the local address at which the caller reached this server. A Host header from elsewhere is not repeated,
 * because a cache could send it to other clients; consoles then use the address of their own page.
 */
function findLocalAddress({ headers }: IncomingMessage, { isSecure }: RequestContext): string | undefined {
  const host = headers.host ?? "";
  if (!HOST.test(host) || !isLoopback(host.replace(/:\d+$/, "").replace(/^\[|\]$/g, ""))) return undefined;
  return `${isSecure ? "https" : "http"}://${host}`;
}

/** Creates a database check that runs at most once in ten seconds; calls in between share the result. */
function createPing({ database, clock }: StatusRoutesDeps): () => Promise<boolean> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve(true);
  return () => {
    if (clock.now() - askedAt >= PING_EVERY_MS) {
      askedAt = clock.now();
      answer = database.ping().then(
        () => true,
        () => false,
      );
    }
    return answer;
  };
}
