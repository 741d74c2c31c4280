import type { IncomingMessage, ServerResponse } from "node:http";
import { PROOF_SECONDS } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { AccessTokens } from "../keys/access-token.ts";
import { clearCookie, hostCookie, readCookie, readHostCookie, setCookie } from "../sessions/cookies.ts";
import type { Devices } from "../sessions/devices.ts";
import { ANONYMOUS, type Identified } from "../principal.ts";
import {
  SESSION_COOKIE,
  SESSION_SECONDS,
  type NewSession,
  type Session,
  type SessionData,
  type Sessions,
} from "../sessions/sessions.ts";

/** Reads and writes the credentials of HTTP requests. */
export interface Credentials {
  /**
   * Identifies the caller. A live session with a user wins over an access token; never refuses. Renews the session's
   * cookie when due.
   */
  identify(request: IncomingMessage, response: ServerResponse, isSecure: boolean): Promise<Identified>;
  /** Returns the session of the request, even an anonymous one. */
  session(request: IncomingMessage): Promise<Session | undefined>;
  /** Opens a session with a new name and ends the session of the request. */
  signIn(request: IncomingMessage, response: ServerResponse, session: NewSession, isSecure: boolean): Promise<void>;
  /** Adds to the data of the request's session; opens an anonymous one if there is none. */
  remember(request: IncomingMessage, response: ServerResponse, data: SessionData, visit: SignInContext): Promise<void>;
  /** Returns the name of the request's device if it has signed in to the account before. */
  device(request: IncomingMessage, userId: number): string | undefined;
  /** Ends the request's session and clears the cookie. */
  /** Ends the session; returns where the provider that began it ends its own, if it is to. */
  signOut(request: IncomingMessage, response: ServerResponse, isSecure: boolean): Promise<string | undefined>;
}

/** The origin of a request. */
export interface SignInContext {
  readonly ip: string;
  readonly isSecure: boolean;
}

export interface CredentialsDeps {
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
  readonly devices: Devices;
  readonly clock: Clock;
  /** Called before a session opens in a browser that has never signed in to its account. */
  readonly onNewDevice: (session: NewSession) => Promise<void>;
}

export function createCredentials(deps: CredentialsDeps): Credentials {
  const { sessions, devices } = deps;
  const session = async (request: IncomingMessage) => {
    const value = readHostCookie(request, SESSION_COOKIE);
    return value === undefined || value === "" ? undefined : sessions.find(value);
  };
  return {
    session,
    identify: (request, response, isSecure) => identify(deps, session, { request, response, isSecure }),
    async signIn(request, response, next, isSecure) {
      const old = await session(request);
      if (devices.findDevice(request, next.userId) === undefined) await deps.onNewDevice(next);
      write(request, response, await sessions.open(next), isSecure);
      devices.remember(request, response, next.userId, isSecure);
      if (old) await sessions.end(old.hash);
    },
    async remember(request, response, data, { ip, isSecure }) {
      const known = await session(request);
      if (known) return sessions.setData(known.hash, { ...known.data, ...data });
      const userAgent = request.headers["user-agent"] ?? "";
      write(request, response, await sessions.open({ userId: 0, ip, userAgent, data }), isSecure);
    },
    device: (request, userId) => devices.findDevice(request, userId),
    async signOut(request, response, isSecure) {
      const old = await session(request);
      if (old) await sessions.end(old.hash);
      for (const name of new Set([SESSION_COOKIE, hostCookie(SESSION_COOKIE, isSecure)])) {
        if (readCookie(request, name) !== undefined) clearCookie(response, name, isSecure);
      }
      return old?.data.origin?.logoutUrl;
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly isSecure: boolean;
}

async function identify(
  { sessions, accessTokens, clock }: CredentialsDeps,
  session: Credentials["session"],
  { request, response, isSecure }: Exchange,
): Promise<Identified> {
  const found = await session(request);
  if (found && found.userId !== 0) {
    const value = readHostCookie(request, SESSION_COOKIE) ?? "";
    const isOldName = isSecure && readCookie(request, hostCookie(SESSION_COOKIE, true)) === undefined;
    if ((await sessions.renew(found)) || isOldName) write(request, response, value, isSecure);
    const signedInAt = found.data.origin?.isUnproven ? 0 : found.createdAt;
    const provenAt = Math.max(signedInAt, found.data.provenAt ?? 0);
    const isProven = seconds(clock) - provenAt <= PROOF_SECONDS;
    const { account, hash: sessionHash } = found;
    return { kind: "account", via: "session", account, sessionHash, isProven, token: undefined };
  }
  const token = accessToken(request);
  if (token === "") return ANONYMOUS;
  const answer = await accessTokens.find(token);
  if (!answer) return { kind: "unknown-token" };
  const { account, token: own } = answer;
  return { kind: "account", via: "access-token", account, sessionHash: undefined, isProven: false, token: own };
}

/**
 * Writes the cookie. On a TLS site it removes the cookie with the earlier name, which another site of the domain could
 * have set.
 */
function write(request: IncomingMessage, response: ServerResponse, value: string, isSecure: boolean): void {
  setCookie(response, hostCookie(SESSION_COOKIE, isSecure), value, { maxAgeSeconds: SESSION_SECONDS, isSecure });
  if (isSecure && readCookie(request, SESSION_COOKIE) !== undefined) clearCookie(response, SESSION_COOKIE, isSecure);
}

function accessToken(request: IncomingMessage): string {
  return (request.headers.authorization ?? "").trim().replace(/^bearer(\s+|$)/i, "");
}
