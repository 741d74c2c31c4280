import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccessTokens } from "../keys/access-token.ts";
import { clearCookie, readCookie, setCookie } from "../sessions/cookies.ts";
import { ANONYMOUS, type Identified } from "../sessions/principal.ts";
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
  /** A live session with a user wins over an access token; never refuses. Renews the session's cookie when due. */
  identify(request: IncomingMessage, response: ServerResponse, isSecure: boolean): Promise<Identified>;
  /** The session of the request, anonymous ones included. */
  session(request: IncomingMessage): Promise<Session | undefined>;
  /** Opens a session under a new name and ends the one that the request came with. */
  signIn(request: IncomingMessage, response: ServerResponse, session: NewSession, isSecure: boolean): Promise<void>;
  /** Adds to what the request's session remembers; opens an anonymous one when there is none. */
  remember(request: IncomingMessage, response: ServerResponse, data: SessionData, visit: Visit): Promise<void>;
  /** Ends the request's session and clears the cookie. */
  signOut(request: IncomingMessage, response: ServerResponse, isSecure: boolean): Promise<void>;
}

/** Where a request comes from. */
export interface Visit {
  readonly ip: string;
  readonly isSecure: boolean;
}

export function createCredentials({
  sessions,
  accessTokens,
}: {
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
}): Credentials {
  const session = async (request: IncomingMessage) => {
    const value = readCookie(request, SESSION_COOKIE);
    return value === undefined || value === "" ? undefined : sessions.find(value);
  };
  return {
    session,
    async identify(request, response, isSecure) {
      const found = await session(request);
      if (found && found.userId !== 0) {
        if (await sessions.renew(found)) writeCookie(response, readCookie(request, SESSION_COOKIE) ?? "", isSecure);
        return { kind: "account", via: "session", account: found.account, sessionHash: found.hash };
      }
      const token = accessToken(request);
      if (token === "") return ANONYMOUS;
      const answer = await accessTokens.find(token);
      if (!answer) return { kind: "unknown-token" };
      return { kind: "account", via: "access-token", account: answer.account, sessionHash: undefined };
    },
    async signIn(request, response, next, isSecure) {
      const old = await session(request);
      writeCookie(response, await sessions.open(next), isSecure);
      if (old) await sessions.end(old.hash);
    },
    async remember(request, response, data, { ip, isSecure }) {
      const known = await session(request);
      if (known) return sessions.setData(known.hash, { ...known.data, ...data });
      const userAgent = request.headers["user-agent"] ?? "";
      writeCookie(response, await sessions.open({ userId: 0, ip, userAgent, data }), isSecure);
    },
    async signOut(request, response, isSecure) {
      const old = await session(request);
      if (old) await sessions.end(old.hash);
      if (readCookie(request, SESSION_COOKIE) !== undefined) clearCookie(response, SESSION_COOKIE, isSecure);
    },
  };
}

function writeCookie(response: ServerResponse, value: string, isSecure: boolean): void {
  setCookie(response, SESSION_COOKIE, value, { maxAgeSeconds: SESSION_SECONDS, isSecure });
}

function accessToken(request: IncomingMessage): string {
  return (request.headers.authorization ?? "").trim().replace(/^bearer(\s+|$)/i, "");
}
