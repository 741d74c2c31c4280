import {
  oauthGithub,
  oauthLinuxdo,
  oauthOidc,
  oauthProvider,
  oauthStart,
  oauthTelegram,
  oauthTelegramBind,
  type Endpoint,
  type SignedInUser,
  type SignInOffer,
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
  readonly name: string;
  readonly label: string;
  readonly endpoint: Endpoint;
  /** Path parameters of the endpoint. */
  readonly params?: Readonly<Record<string, string>>;
  /** The bound account, "" if there is none; absent if the server does not report it. */
  bound?(self: User): string;
  isOffered(status: Status): boolean;
}

const SERVICES: readonly SignInService[] = [
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

const OWN_OIDC = "oidc";

/** Returns every service; the identity providers of companies come last, as the status names them. */
export function listServices(status: Partial<Pick<Status, "sign_in">>): readonly SignInService[] {
  // An older replica names none.
  const { sign_in: offers = [] } = status;
  return [...SERVICES, ...offers.filter(({ slug }) => slug !== OWN_OIDC).map(toService)];
}

function toService({ slug, name }: SignInOffer): SignInService {
  return {
    name: slug,
    label: name,
    endpoint: oauthProvider,
    params: { slug },
    // The server does not report it; linking an account that is linked already confirms its owner.
    bound: () => "",
    isOffered: () => true,
  };
}

/**
 * Redirects to the service's own page. The server builds the address, because it remembers what ties the answer to this
 * browser.
 */
export async function startSignIn({ name }: SignInService): Promise<void> {
  const { url } = await call(oauthStart, { query: { service: name, aff: stored.invitation.read() ?? "" } });
  location.assign(url);
}

/** What a service adds to the address of the way back: a code, or why there is none. */
const ANSWER = ["code", "state", "iss", "error", "error_description"];

/**
 * Passes the service's answer to the server; without a user in the result, the service was bound to the signed-in
 * account.
 */
async function endSignIn(service: SignInService, search: URLSearchParams): Promise<SignedInUser | undefined> {
  const query = Object.fromEntries(ANSWER.map((name) => [name, search.get(name) ?? ""]));
  const { params } = service;
  const answer = await request(service.endpoint, { query, ...(params && { params }) } as never);
  return answer.data === undefined ? undefined : (answer.data as SignedInUser);
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

export function returnFrom(name: string | undefined, status: Partial<Pick<Status, "sign_in">>): Return | undefined {
  if (name === "telegram") return { label: "Telegram", next: "/", end: endTelegram };
  const service = listServices(status).find((one) => one.name === name);
  return service && { label: service.label, next: "/token", end: (search) => endSignIn(service, search) };
}
