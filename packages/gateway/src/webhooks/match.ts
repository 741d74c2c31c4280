import { isAtLeast } from "./texts/render.ts";
import { parseOwner, writeOwner } from "./owners.ts";
import type { Endpoint, StoredEvent } from "./types.ts";

type Subject = Pick<StoredEvent, "type" | "severity" | "team_id" | "user_id" | "at_ms" | "data">;
/** An endpoint or what becomes one. */
interface Receiver {
  readonly owner: string;
  readonly format: string;
}

type Listener = Pick<Endpoint, "id" | "owner" | "format" | "types" | "minSeverity" | "createdAt">;

/** Returns the owners who may hear the event: the operator hears everything. */
export function listOwners({ team_id: team, user_id: user }: Pick<Subject, "team_id" | "user_id">): string[] {
  return [
    "operator",
    ...(team > 0 ? [writeOwner({ scope: "team", id: team })] : []),
    ...(user > 0 ? [writeOwner({ scope: "user", id: user })] : []),
  ];
}

/** What an Alertmanager reported does not go to one: it would come back as another alert without end. */
function isEcho({ type }: Subject, { format }: Listener): boolean {
  return format === "alertmanager" && type.startsWith("alert.");
}

/** True if the endpoint wants the event. It gets nothing from before it was created, and nothing about itself. */
export function isWanted(event: Subject, endpoint: Listener): boolean {
  return (
    listOwners(event).includes(endpoint.owner) &&
    event.type !== "webhook.test" &&
    !isEcho(event, endpoint) &&
    !(event.type === "webhook.disabled" && event.data["id"] === endpoint.id) &&
    event.at_ms >= endpoint.createdAt * 1_000 &&
    (endpoint.types.length === 0 || endpoint.types.includes(event.type)) &&
    isAtLeast(event.severity, endpoint.minSeverity)
  );
}

/** Endpoints of people and teams rest while the operator has switched them off; mails are not meant by that. */
export function isPermitted({ owner, format }: Receiver, userWebhooks: boolean): boolean {
  return userWebhooks || format === "mail" || parseOwner(owner).scope === "operator";
}
