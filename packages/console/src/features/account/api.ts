import {
  oauthGithub,
  oauthLinuxdo,
  oauthOidc,
  oauthState,
  passkeyLogin,
  passkeyLoginOptions,
  resetPassword,
  sendResetLink,
  type Endpoint,
  type SignedInUser,
  type Status,
} from "@fairway/wire";
import { setUser } from "../../app/session/session.ts";
import { call, request } from "../../lib/http.ts";
import { signWithPasskey } from "../../lib/passkeys.ts";
import { stored } from "../../lib/storage.ts";

type Proof = Readonly<Record<string, string>>;

export async function askForResetLink(email: string, proof: Proof): Promise<void> {
  await call(sendResetLink, { query: { email }, extraQuery: proof });
}

/** Lets the device sign; rejects when people change their mind. */
export async function signInWithPasskey(): Promise<void> {
  const response = await signWithPasskey(await call(passkeyLoginOptions, {}));
  setUser(await call(passkeyLogin, { body: { response } }));
}

/** Exchanges the token of the mailed link; resolves to the new password. */
export function takeNewPassword(email: string, token: string): Promise<string> {
  return call(resetPassword, { body: { email, token } });
}

/** A service that visitors are sent to and that sends them back to `/oauth/<name>` with a code. */
export interface SignInService {
  readonly name: "github" | "linuxdo" | "oidc";
  readonly label: string;
  readonly endpoint: Endpoint;
  isOffered(status: Status): boolean;
  address(status: Status, state: string): string;
}

function withQuery(address: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

export const SERVICES: readonly SignInService[] = [
  {
    name: "github",
    label: "GitHub",
    endpoint: oauthGithub,
    isOffered: (status) => status.github_oauth,
    address: (status, state) =>
      withQuery("https://github.com/login/oauth/authorize", {
        client_id: status.github_client_id,
        state,
        scope: "user:email",
      }),
  },
  {
    name: "linuxdo",
    label: "LINUX DO",
    endpoint: oauthLinuxdo,
    isOffered: (status) => status.linuxdo_oauth,
    address: (status, state) =>
      withQuery("https://connect.linux.do/oauth2/authorize", {
        response_type: "code",
        client_id: status.linuxdo_client_id,
        state,
      }),
  },
  {
    name: "oidc",
    label: "OpenID Connect",
    endpoint: oauthOidc,
    isOffered: (status) => status.oidc_enabled && status.oidc_authorization_endpoint !== "",
    address: (status, state) =>
      withQuery(status.oidc_authorization_endpoint, {
        response_type: "code",
        client_id: status.oidc_client_id,
        redirect_uri: `${location.origin}/oauth/oidc`,
        scope: "openid profile email",
        state,
      }),
  },
];

/** Leaves for the service's own page. */
export async function startSignIn(service: SignInService, status: Status): Promise<void> {
  const state = await call(oauthState, { query: { aff: stored.invitation.read() ?? "" } });
  location.assign(service.address(status, state));
}

/** Hands the service's code over; without a user the account that is signed in was bound to the service. */
export async function endSignIn(
  service: SignInService,
  query: { readonly code: string; readonly state: string },
): Promise<SignedInUser | undefined> {
  const answer = await request(service.endpoint, { query } as never);
  return answer.message === "bind" ? undefined : (answer.data as SignedInUser);
}
