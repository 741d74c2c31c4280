import { about, homePage, notice, status, statusTest, type OptionValues } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { statusView, type StatusFacts } from "./view.ts";

export interface StatusRoutesDeps extends Omit<StatusFacts, "isSetUp"> {
  readonly options: () => OptionValues;
  readonly isSetUp: () => boolean;
  readonly database: Pick<Database, "ping">;
  readonly clock: Clock;
}

const PING_EVERY_MS = 10_000;

export function statusRoutes(deps: StatusRoutesDeps): Route[] {
  const ping = createPing(deps);
  return [
    implement(status, () => statusView(deps.options(), { ...deps, isSetUp: deps.isSetUp() })),
    implement(statusTest, async (call) => {
      if (!(await ping())) throw new Refusal("G5");
      call.message("Server is running");
    }),
    implement(notice, () => deps.options().Notice),
    implement(about, () => deps.options().About),
    implement(homePage, () => deps.options().HomePageContent),
  ];
}

/** Asks the database at most once in ten seconds; calls in between share the answer. */
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
