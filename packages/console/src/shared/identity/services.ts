import {
  oauthGithub,
  oauthLinuxdo,
  oauthOidc,
  oauthStart,
  oauthTelegram,
  oauthTelegramBind,
  type Endpoint,
  type SignedInUser,
  type Status,
  type User,
} from "@fairway/wire";
import { call, request } from "../../lib/http.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { stored } from "../../lib/storage.ts";
import { currentUser } from "../../session/session.ts";
import { say } from "./texts.ts";

/** A service that visitors are sent to and that sends them back to `/oauth/<name>` with a code. */
export interface SignInService {
  readonly name: "github" | "linuxdo" | "oidc";
  readonly label: string;
  readonly endpoint: Endpoint;
  /** The bound account, "" if there is none; absent if the server does not report it. */
  bound?(self: User): string;
  isOffered(status: Status): boolean;
}

export const SERVICES: readonly SignInService[] = [
  {
    name: "github",
    label: "GitHub",
    endpoint: oauthGithub,
    bound: (self) => self.github_id,
    isOffered: (status) => status.github_oauth,
  },
  {
    name: "linuxdo",
    label: "LINUX DO",
    endpoint: oauthLinuxdo,
    bound: (self) => self.linux_do_id,
    isOffered: (status) => status.linuxdo_oauth,
  },
  {
    name: "oidc",
    label: "OpenID Connect",
    endpoint: oauthOidc,
    isOffered: (status) => status.oidc_enabled && status.oidc_authorization_endpoint !== "",
  },
];

/**
 * Redirects to the service's own page. The server builds the address, because it remembers what ties the answer to this
 * browser.
 */
export async function startSignIn({ name }: SignInService): Promise<void> {
  const { url } = await call(oauthStart, { query: { service: name, aff: stored.invitation.read() ?? "" } });
  location.assign(url);
}

/**
 * Passes the service's answer to the server; without a user in the result, the service was bound to the signed-in
 * account.
 */
async function endSignIn(service: SignInService, search: URLSearchParams): Promise<SignedInUser | undefined> {
  const query = { code: search.get("code") ?? "", state: search.get("state") ?? "" };
  const answer = await request(service.endpoint, { query } as never);
  return answer.message === "bind" ? undefined : (answer.data as SignedInUser);
}

/**
 * Passes on what Telegram signed. Its answer contains no state of the server, and a link with another user's answer
 * must not bind that account here: only an answer that this tab requested is accepted.
 */
async function endTelegram(search: URLSearchParams): Promise<SignedInUser | undefined> {
  const { state, ...query } = Object.fromEntries(search);
  const asked = stored.telegramState.read();
  stored.telegramState.write(undefined);
  if (asked === undefined || state !== asked) throw new ApiProblem(say("notAskedHere"));
  if (!currentUser()) return call(oauthTelegram, { query });
  await call(oauthTelegramBind, { query });
  return undefined;
}

/** The result of a sign-in elsewhere, at `/oauth/<name>`. */
export interface Return {
  readonly label: string;
  /** The page to open after the sign-in. */
  readonly next: string;
  end(search: URLSearchParams): Promise<SignedInUser | undefined>;
}

export function returnFrom(name: string | undefined): Return | undefined {
  if (name === "telegram") return { label: "Telegram", next: "/", end: endTelegram };
  const service = SERVICES.find((one) => one.name === name);
  return service && { label: service.label, next: "/token", end: (search) => endSignIn(service, search) };
}
