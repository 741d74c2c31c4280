import { AppError, type ErrorEntity } from "../../lib/app-error.ts";
import { anthropicLimits } from "../../dialects/core/errors.ts";
import type { Dialect } from "../../dialects/core/types.ts";
import { toTeamEntity } from "../../identity/authentication/team-rights.ts";
import type { TeamRecord } from "../../snapshot/types.ts";
import type { Claim, ClaimState } from "../../limits/claims.ts";

const UNITS = {
  requests: "requests",
  successes: "successful requests",
  tokens: "tokens",
  concurrency: "requests at once",
} as const;

/** Returns a 429 that names the owner of the limit, the limit, its use and the time of the reset. */
export function buildRefusal(state: ClaimState, team?: TeamRecord): AppError {
  const { claim, used, resetMs } = state;
  const seconds = toRetrySeconds(resetMs);
  const code = claim.kind === "concurrency" ? "concurrency_limit_exceeded" : "rate_limit_exceeded";
  const entity = team && toLimitedEntity(claim.scope, team);
  if (entity) {
    const message = `Too many requests of ${describe(entity, team)}; retry after ${seconds} s.`;
    return new AppError(code, { message, entity, retryAfterMs: seconds * 1000, headers: limitHeaders([state]) });
  }
  const tagged = toTagEntity(claim);
  const message = `Limit of ${describeLimited(claim, tagged)} reached: ${claim.limit} ${UNITS[claim.kind]}${formatWindow(claim)}, ${used} used; retry after ${seconds} s.`;
  return new AppError(code, {
    message,
    ...(tagged && { param: tagged.scope, entity: tagged }),
    retryAfterMs: seconds * 1000,
    headers: limitHeaders([state]),
  });
}

/** Returns the tag or the end user whose limit was reached, without the token or account that counts it. */
function toTagEntity({ scope, subject }: Claim): ErrorEntity | undefined {
  if (scope !== "tag" && scope !== "end_user") return undefined;
  return { scope, name: subject.slice(subject.indexOf("/") + 1) };
}

function describeLimited({ scope, subject }: Claim, tagged: ErrorEntity | undefined): string {
  if (tagged) return `the ${scope === "tag" ? "tag" : "end user"} ${tagged.name}`;
  return scope === "group" || scope === "model" ? `this ${scope} ${subject}` : `this ${scope}`;
}

/** Returns the team or the member whose limit was reached; undefined for a limit of the key and of what everyone shares. */
function toLimitedEntity(scope: Claim["scope"], team: TeamRecord): ErrorEntity | undefined {
  if (scope === "user") return toTeamEntity(team);
  return scope === "member" ? { scope, name: team.actorName } : undefined;
}

function describe({ scope, name }: ErrorEntity, team: TeamRecord): string {
  return scope === "member" ? `member ${name} of team ${team.name}` : `team ${name}`;
}

/**
 * Returns the wait in seconds. A window of a minute ends up to 61 seconds later. Official clients ignore a wait of more
 * than a minute and return at once; a client that returns one second early gets the remaining time.
 */
function toRetrySeconds(resetMs: number): number {
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  return seconds === 61 ? 60 : seconds;
}

function formatWindow({ kind, minutes = 1 }: Claim): string {
  if (kind === "concurrency") return "";
  return minutes === 1 ? " per minute" : ` per ${minutes} minutes`;
}

/** Names of the headers by kind. */
const HEADINGS = { requests: "requests", successes: "requests", tokens: "tokens", concurrency: "concurrency" } as const;

/** Returns headers by which clients slow down: of several limits of one kind, the one with the least left. */
export function limitHeaders(states: readonly ClaimState[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  // The tightest limit comes last and overwrites the others.
  for (const { claim, used, resetMs } of states.toSorted((a, b) => left(b) - left(a))) {
    const heading = HEADINGS[claim.kind];
    headers[`x-ratelimit-limit-${heading}`] = String(claim.limit);
    headers[`x-ratelimit-remaining-${heading}`] = String(Math.max(0, claim.limit - used));
    headers[`x-ratelimit-reset-${heading}`] = `${Math.ceil(resetMs / 1000)}s`;
  }
  return headers;
}

/** A response whose headers may still be set. */
interface Headed {
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
}

/** Sends the headers of the limits, as clients of the protocol read them. */
export function sendLimitHeaders(
  client: Headed,
  states: readonly ClaimState[],
  dialect: Pick<Dialect, "errors"> | undefined,
): void {
  if (client.headersSent || states.length === 0) return;
  const headers = limitHeaders(states);
  const own = dialect?.errors === "anthropic" ? anthropicLimits(headers) : {};
  for (const [name, value] of Object.entries({ ...headers, ...own })) client.setHeader(name, value);
}

function left({ claim, used }: ClaimState): number {
  return claim.limit - used;
}
